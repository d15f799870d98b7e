import type { HeldLane } from '../../src/lanes/store/lanes.ts';
import type { Intake } from '../../src/operations/index.ts';
import type { Settlement, StoredOutcome } from '../../src/operations/settlement.ts';
import { earliestAcceptance, type OperationError, type WorkItem } from '../../src/operations/work.ts';
import { newId } from '../../src/kit/ids.ts';

/** The state of an operation as the invariants look at it. */
export interface Stored {
  operationId: string;
  status: Settlement['status'];
  outcomes: (StoredOutcome | undefined)[];
  /** Of its work row; absent once it has ended. */
  work?: { state: number; lease: string | null };
}

/** What the ledger's statements do, step by step; one lane. Implemented by the statements themselves, and in memory. */
export interface LedgerStore {
  accept(intake: Intake): Promise<string>;
  /** Folds the wake-ups, claims the lane if it is due, and takes over what its former holder had sent. */
  claim(): Promise<{ lane: HeldLane; rescued: WorkItem[] } | undefined>;
  take(lane: HeldLane, room: number): Promise<WorkItem[]>;
  record(settlement: Settlement): Promise<boolean>;
  extend(lane: HeldLane): Promise<boolean>;
  giveBack(lane: HeldLane, blockedMs: number): Promise<void>;
  /** What waits for a time is due now: the customer connected again. */
  hurry(): Promise<void>;
  /** The database's clock goes on, or is set, by `ms`. */
  moveClock(ms: number): Promise<void>;
  stored(): Promise<Stored[]>;
}

export const leaseMs = 60_000;
/** As the statements have it: a lane whose work cannot start for want of a turn is looked at again. */
const recheckMs = 60_000;

interface Operation {
  id: string;
  acceptedAt: number;
  lastAttemptAt?: number;
  intake: Intake;
  status: Settlement['status'];
  outcomes: (StoredOutcome | undefined)[];
  errors: OperationError[];
  succeeded: number;
  failed: number;
  unknown: number;
}

interface Work {
  seq: number;
  operation: Operation;
  dueAt: number;
  deadline: number;
  state: number;
  attempt: number;
  lease: string | null;
  orderKeys: string[];
}

interface Lane {
  dueAt: number;
  notBefore: number;
  lease: string | null;
  wakes: number;
}

interface Memory {
  now: number;
  operations: Operation[];
  work: Work[];
  /** Times of wake-ups that are not folded yet. */
  wakes: number[];
  lane: Lane | undefined;
  seq: number;
}

/** The double of the statements. What it gets wrong shows where the same histories run on the statements. */
export function createMemoryStore(): LedgerStore {
  const memory: Memory = { now: 0, operations: [], work: [], wakes: [], lane: undefined, seq: 0 };
  return {
    accept: async (intake) => accept(memory, intake),
    claim: async () => claim(memory),
    take: async (lane, room) => (holds(memory, lane) ? take(memory, lane, room) : []),
    record: async (settlement) => record(memory, settlement),
    async extend({ lease }) {
      if (memory.lane?.lease !== lease) return false;
      memory.lane.dueAt = memory.now + leaseMs;
      return true;
    },
    giveBack: async (lane, blockedMs) => giveBack(memory, lane, blockedMs),
    hurry: async () => hurry(memory),
    async moveClock(ms) {
      memory.now += ms;
    },
    stored: async () =>
      memory.operations.map((operation) => {
        const { id: operationId, status, outcomes } = operation;
        const work = memory.work.find((row) => row.operation === operation);
        const stored: Stored = { operationId, status, outcomes };
        if (work) stored.work = { state: work.state, lease: work.lease };
        return stored;
      }),
  };
}

function accept(memory: Memory, intake: Intake): string {
  const operation: Operation = {
    id: newId(),
    acceptedAt: memory.now,
    intake,
    status: 'in_progress',
    outcomes: intake.records.map(() => undefined),
    errors: [],
    succeeded: 0,
    failed: 0,
    unknown: 0,
  };
  memory.operations.push(operation);
  const orderKeys = [...new Set((intake.orderKeys ?? []).filter((key) => key !== null))];
  memory.work.push({
    seq: (memory.seq += 1),
    operation,
    dueAt: memory.now,
    deadline: memory.now + intake.deadlineSeconds * 1_000,
    state: memory.work.some((other) => sharesKey(other, orderKeys)) ? 2 : 0,
    attempt: 0,
    lease: null,
    orderKeys,
  });
  memory.wakes.push(memory.now);
  return operation.id;
}

function claim(memory: Memory): { lane: HeldLane; rescued: WorkItem[] } | undefined {
  if (memory.wakes.length > 0) {
    const lane = (memory.lane ??= { dueAt: Infinity, notBefore: -Infinity, lease: null, wakes: 0 });
    lane.wakes += 1;
    if (lane.lease === null)
      lane.dueAt = Math.min(lane.dueAt, Math.max(Math.min(...memory.wakes), lane.notBefore));
    memory.wakes = [];
  }
  const { lane, now } = memory;
  if (!lane || lane.dueAt > now || lane.dueAt === Infinity) return undefined;
  lane.lease = crypto.randomUUID();
  lane.dueAt = now + leaseMs;
  const held: HeldLane = {
    projectId: 'p',
    id: 'l',
    lease: lane.lease,
    wakes: String(lane.wakes),
    kind: 'connection',
    gathers: false,
  };
  const lost = memory.work.filter(({ state, lease }) => state === 1 && lease !== held.lease);
  for (const row of lost) row.lease = held.lease;
  return { lane: held, rescued: lost.map((row) => itemOf(memory, row, false)) };
}

function sharesKey(row: Work, orderKeys: readonly string[]): boolean {
  return row.orderKeys.some((key) => orderKeys.includes(key));
}

/** As the trigger on `turn`: the next one of each key becomes ready, and wakes the lane. */
function passTurns(memory: Memory, gone: Work): void {
  for (const key of gone.orderKeys) {
    const next = memory.work.find((row) => row.seq > gone.seq && row.orderKeys.includes(key));
    if (!next || next.state === 1) continue;
    next.state = 0;
    memory.wakes.push(memory.now);
  }
}

function holds({ lane, now }: Memory, { lease }: HeldLane): boolean {
  return lane?.lease === lease && lane.dueAt > now;
}

function take(memory: Memory, { lease }: HeldLane, room: number): WorkItem[] {
  const { now, work, lane } = memory;
  const late = work
    .filter((row) => row.state === 2 && row.deadline <= now)
    .sort((a, b) => a.deadline - b.deadline);
  const ready = work
    .filter((row) => row.state === 0 && row.dueAt <= now && row.lease !== lease)
    .filter((row) => row.deadline <= now || ((lane?.notBefore ?? 0) <= now && isItsTurn(memory, row)))
    .sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
  return [...late, ...ready].slice(0, room).map((row) => {
    const expired = row.deadline <= now;
    row.lease = lease;
    row.state = 0;
    if (!expired) {
      row.state = 1;
      row.attempt += 1;
    }
    return itemOf(memory, row, expired);
  });
}

function isItsTurn({ work }: Memory, row: Work): boolean {
  return !work.some((other) => other.seq < row.seq && sharesKey(other, row.orderKeys));
}

function itemOf({ now }: Memory, row: Work, expired: boolean): WorkItem {
  const { operation, seq, attempt, lease } = row;
  const {
    records: payloads,
    integrationId,
    installationId,
    configId,
    actionType,
    resource,
    request,
  } = operation.intake;
  const records = payloads.flatMap((payload, index) =>
    operation.outcomes[index] ? [] : [{ index, payload }],
  );
  const open = new Set(records.map(({ index }) => index));
  const { errors, succeeded, failed, unknown } = operation;
  return {
    projectId: 'p',
    operationId: operation.id,
    kind: actionType,
    ref: operation.id,
    isOfNode: false,
    integrationId,
    installationId,
    configId,
    laneId: 'l',
    actionType,
    resource,
    request,
    records,
    attempt,
    expired,
    unreadBytes: 0,
    acceptedAt: earliestAcceptance(operation.id, Date.now() - (now - operation.acceptedAt)),
    sinceEarlierMs: now - (operation.lastAttemptAt ?? now),
    remainingMs: row.deadline - now,
    total: payloads.length,
    tally: { succeeded, failed, unknown, errors: errors.filter(({ index }) => !open.has(index)) },
    earlier: new Map(errors.filter(({ index }) => open.has(index)).map((error) => [error.index, error])),
    seq: String(seq),
    lease: lease ?? '',
    mark: String(row.dueAt),
  };
}

function record(memory: Memory, settled: Settlement): boolean {
  const { seq, lease, mark } = settled;
  const row = memory.work.find(
    (one) => String(one.seq) === seq && one.lease === lease && String(one.dueAt) === mark,
  );
  if (!row) return false;
  const { operation } = row;
  if (settled.done) {
    memory.work = memory.work.filter((other) => other !== row);
    passTurns(memory, row);
  } else {
    row.state = 0;
    row.lease = null;
    row.dueAt = memory.now + settled.waitMs;
    if (!settled.spent) row.attempt -= 1;
  }
  for (const { index, outcome } of settled.outcomes) operation.outcomes[index] = outcome;
  if (settled.done || settled.spent) operation.errors = settled.errors;
  if (settled.spent) operation.lastAttemptAt = memory.now;
  operation.status = settled.status;
  operation.succeeded += settled.succeeded;
  operation.failed += settled.failed;
  operation.unknown += settled.unknown;
  return true;
}

function hurry({ work, lane, now }: Memory): void {
  for (const row of work) if (row.state === 0) row.dueAt = Math.min(row.dueAt, now);
  if (!lane) return;
  lane.notBefore = -Infinity;
  lane.wakes += 1;
  if (lane.lease === null) lane.dueAt = now;
}

function giveBack(memory: Memory, { lease, wakes }: HeldLane, blockedMs: number): void {
  const { lane, work, now } = memory;
  if (lane?.lease !== lease) return;
  const notBefore = Math.max(lane.notBefore, now + blockedMs);
  const ready = work.filter(({ state }) => state === 0);
  const eligible = Math.min(...ready.filter((row) => isItsTurn(memory, row)).map(({ dueAt }) => dueAt));
  const front = Math.min(...ready.map(({ dueAt }) => dueAt));
  const late = Math.min(...work.filter(({ state }) => state === 2).map(({ deadline }) => deadline));
  lane.lease = null;
  lane.notBefore = notBefore;
  if (work.some(({ state }) => state === 1)) lane.dueAt = now;
  else if (Number(wakes) !== lane.wakes) lane.dueAt = notBefore;
  else
    lane.dueAt = Math.min(
      Math.max(eligible, notBefore),
      Math.max(front, now) + recheckMs,
      Math.max(late, now),
    );
}

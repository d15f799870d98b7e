import type { Database } from '../../../kit/db/database.ts';
import { isDatabaseAway } from '../../../kit/db/faults.ts';
import { newId } from '../../../kit/ids.ts';
import { problem, type Problem } from '../../../kit/problem.ts';
import { contextOf, type NodeLane, type NodeLanes, type WorkContext } from '../../../lanes/index.ts';
import type { EarlierUse, Intake, Operations, WorkItem } from '../../../operations/index.ts';
import type { AutoBatches } from '../auto-batch/auto-batches.ts';
import { intakeOf, type Origin, type PreparedWrite } from '../prepare/prepare.ts';
import { underWayIn } from './stray.ts';
import { takeBack, takeTurn } from './turn.ts';

interface Queues {
  operations: Pick<Operations, 'acceptQueued'>;
  writes: { gather: AutoBatches['accept'] };
}

/** Accepts a write as queued work, by itself or in a batch that gathers. `replayed`: the key stands for that operation already. */
export async function acceptQueued(
  { operations, writes }: Queues,
  prepared: PreparedWrite,
  origin: Origin,
): Promise<{ operationId: string; replayed?: true }> {
  const intake = intakeOf(prepared, origin);
  const { autoBatch } = prepared.plan;
  if (!autoBatch) return operations.acceptQueued(intake);
  const { records, orderKeys, request, requestId, ...shared } = intake;
  const [first] = records;
  if (!first) return operations.acceptQueued(intake);
  const orderKey = orderKeys?.[0] ?? null;
  // A batch is of what its records share.
  const record = { ...first, requestId };
  return writes.gather({ ...shared, ...autoBatch, request: { ...request, form: 'batch' }, record, orderKey });
}

/** What is to be accepted as started: the lane is this node's. */
export type MarkedIntake = Omit<Intake, 'laneId'>;

/** A write that is committed as started, and may be sent. */
export interface MarkedWrite {
  item: WorkItem;
  lane: NodeLane;
  context: WorkContext;
}

/** Of a node, what an acceptance needs. */
export interface Accepting {
  database: Database;
  operations: Pick<Operations, 'acceptMarked'>;
  lanes: NodeLanes;
  leaseMs: number;
  waitForTurnMs: number;
  /** Aborted when the process gives up waiting. */
  closing: AbortSignal;
}

const laneAttempts = 3;

/**
 * Accepts a synchronous write as started under a lane of this node. One that stands behind another of its record is marked
 * when its turn comes. `earlier`: its key stands for this, and nothing was accepted.
 */
export async function acceptMarked(
  node: Accepting,
  intake: MarkedIntake,
): Promise<MarkedWrite | { earlier: EarlierUse }> {
  const { lane, operationId, seq, waits, earlier } = await acceptUnderLane(node, intake);
  if (earlier) return { earlier };
  const parked = { lane, seq, operationId, key: intake.key };
  if (waits) await takeTurn(node.database, parked, node.waitForTurnMs, node.closing);
  const context = contextOf(lane, AbortSignal.any([lane.cut.signal, node.closing]), node.leaseMs);
  const item = itemOf(intake, lane, operationId, seq);
  if (context.mayStillSend()) return { item, lane, context };
  throw await takeBackUnsent(
    node,
    intake,
    { item, lane },
    'the acceptance took longer than the lease of this node',
  );
}

/** As if the write had never been accepted; what its caller is told. */
export async function takeBackUnsent(
  { database }: Pick<Accepting, 'database'>,
  { key }: MarkedIntake,
  { item, lane }: Pick<MarkedWrite, 'item' | 'lane'>,
  why: string,
): Promise<Problem> {
  const open = await takeBack(database, { lane, seq: item.seq, operationId: item.operationId, key });
  if (open) return open;
  return problem('database-unavailable', { detail: `Nothing was sent: ${why}.`, retryAfterSeconds: 1 });
}

async function acceptUnderLane(
  { lanes, operations }: Accepting,
  intake: MarkedIntake,
): Promise<NonNullable<Awaited<ReturnType<Operations['acceptMarked']>>> & { lane: NodeLane }> {
  const { projectId, key } = intake;
  for (let attempt = 1; attempt <= laneAttempts; attempt++) {
    const lane = await lanes.of(projectId);
    const underWay = underWayIn(lane);
    const operationId = newId();
    underWay.operations.add(operationId);
    try {
      const accepted = await operations.acceptMarked({ ...intake, laneId: lane.id }, lane.lease, operationId);
      if (!accepted || accepted.earlier) underWay.operations.delete(operationId);
      if (accepted) return { ...accepted, lane };
    } catch (error) {
      underWay.operations.delete(operationId);
      // Whether it happened is open: the answer was lost.
      if (isDatabaseAway(error)) underWay.toldAgain.set(operationId, key);
      throw error;
    }
    lanes.abandon(lane);
  }
  throw problem('database-unavailable', {
    detail: 'This node could not keep its lease.',
    retryAfterSeconds: 1,
  });
}

function itemOf(intake: MarkedIntake, lane: NodeLane, operationId: string, seq: string): WorkItem {
  return {
    ...intake,
    request: { ...intake.request, requestId: intake.requestId },
    kind: intake.actionType,
    ref: operationId,
    isOfNode: true,
    operationId,
    seq,
    lease: lane.lease,
    mark: null,
    laneId: lane.id,
    records: intake.records.map((payload, index) => ({ index, payload })),
    attempt: 1,
    expired: false,
    acceptedAt: Date.now(),
    remainingMs: intake.deadlineSeconds * 1_000,
    total: intake.records.length,
    tally: { succeeded: 0, failed: 0, unknown: 0, errors: [] },
    earlier: new Map(),
    sinceEarlierMs: 0,
    unreadBytes: 0,
  };
}

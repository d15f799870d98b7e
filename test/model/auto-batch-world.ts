import { randomUUID } from 'node:crypto';
import { newId } from '../../src/kit/ids.ts';
import type { Database } from '../../src/kit/db/database.ts';
import {
  batchKeyOf,
  placesOf,
  requestsOf,
  type Entry,
  type Place,
} from '../../src/actions/write/auto-batch/places.ts';
import {
  closeOthers,
  findOwn,
  insert,
  openBatches as batching,
  seal,
  take,
} from '../../src/actions/write/auto-batch/store.ts';
import { claim, fold, giveBack } from '../../src/lanes/store/lanes.ts';

interface Gatherer {
  /** On their way, without places. */
  waiting: Entry[];
  /** Whether places of theirs were missed. */
  missed: boolean;
  places: Place[];
}

/** Two nodes that gather for two keys of one lane, step by step, on the product's own statements. */
export interface BatchWorld {
  database: Database;
  afterProject: string;
  common: Omit<Entry, 'id' | 'batchKey' | 'payload' | 'record' | 'maxDelaySeconds'>;
  nodes: [Gatherer, Gatherer];
  /** By the database's clock, from the beginning of the history. */
  now: number;
  arrived: number;
  /** Counts what happens, so that it is known what was accepted before another arrived. */
  tick: number;
  arrivals: Map<string, { orderKey: string; tick: number }>;
  /** What each accepted entry was told, in the order of acceptance by its node. */
  accepted: Map<string, { batchId: string; slot: number; key: string; number: number; tick: number }>;
  /** By batch, in their order: when its first place was taken, and how long that record lets it gather. */
  opened: Map<string, { key: string; at: number; delayMs: number }>;
  violations: string[];
}

const leaseMs = 60_000;
const recordCount = 7;
/** How long a full batch may wait for the one before it, whose places are all handed out (`svc_ab_seal`). */
const patienceMs = 2_000;

export function createBatchWorld(database: Database): BatchWorld {
  const afterProject = newId();
  const ids = { integrationId: newId(), installationId: newId(), configId: newId(), laneId: randomUUID() };
  const node = (): Gatherer => ({ waiting: [], missed: false, places: [] });
  return {
    database,
    afterProject,
    common: {
      ...ids,
      projectId: newId(),
      actionType: 'write',
      resource: 'contacts',
      request: { type: 'create' },
      deadlineSeconds: 3_600,
      orderKey: null,
    },
    nodes: [node(), node()],
    now: 0,
    arrived: 0,
    tick: 0,
    arrivals: new Map(),
    accepted: new Map(),
    opened: new Map(),
    violations: [],
  };
}

/** Requests arrive at a node; a group holds at most 128 of a key (places.ts). */
export function arrive(
  world: BatchWorld,
  node: Gatherer,
  resource: string,
  count: number,
  maxDelaySeconds: number,
): void {
  if (node.waiting.length > 0 || node.places.length > 0) return;
  node.missed = false;
  for (let n = 0; n < count; n += 1) {
    const number = (world.arrived += 1);
    // The same records come for both keys.
    const orderKey = `record ${number % recordCount}`;
    const given = { ...world.common, resource, record: {}, maxDelaySeconds, orderKey };
    const entry = {
      ...given,
      id: randomUUID(),
      batchKey: batchKeyOf(given),
      payload: JSON.stringify({ number }),
    };
    world.arrivals.set(entry.id, { orderKey, tick: (world.tick += 1) });
    node.waiting.push(entry);
  }
}

export async function takePlaces(world: BatchWorld, node: Gatherer): Promise<void> {
  if (node.waiting.length === 0 || node.places.length > 0) return;
  await closeOthers(world.database, node.waiting);
  const wanted = requestsOf(node.waiting, node.missed);
  node.places = placesOf(wanted, await take(world.database, wanted));
  const placed = new Set(node.places.map(({ entry }) => entry.id));
  if (placed.size !== node.waiting.length) world.violations.push('an entry has no place, or two');
  node.waiting = [];
  for (const { entry, batchId, slot } of node.places) {
    if (slot > 99) world.violations.push(`place ${slot} was handed out`);
    const delayMs = entry.maxDelaySeconds * 1_000;
    if (slot === 0) world.opened.set(batchId, { key: entry.batchKey, at: world.now, delayMs });
  }
}

/** With `lost`, the answer to the commit does not arrive, and the node looks for its own entries. */
export async function fill(world: BatchWorld, node: Gatherer, lost: boolean): Promise<void> {
  const { places } = node;
  if (places.length === 0) return;
  const inserted = await insert(world.database, places);
  const own = lost
    ? (await findOwn(world.database, places)).map(({ own: isOwn }) => isOwn)
    : inserted.map((one) => one !== undefined);
  node.places = [];
  for (const [at, { entry, batchId, slot }] of places.entries()) {
    if (own[at] !== (inserted[at] !== undefined)) world.violations.push('a lost commit was not found again');
    const { number } = JSON.parse(entry.payload) as { number: number };
    const tick = (world.tick += 1);
    if (own[at]) world.accepted.set(entry.id, { batchId, slot, key: entry.batchKey, number, tick });
    else node.waiting.push(entry);
  }
  node.missed = node.waiting.length > 0;
}

export function dieGathering(node: Gatherer): void {
  Object.assign(node, { waiting: [], places: [] });
}

/** A worker claims the lane if it is due, seals and gives it back; then what is due or full must be gone. */
export async function sealDue(world: BatchWorld): Promise<void> {
  const { database, afterProject } = world;
  await fold(database);
  const lease = randomUUID();
  const [lane] = await claim(
    database,
    { afterProject, perProject: 1, limit: 1, lease, leaseMs },
    batching.statements,
  );
  if (lane) {
    await seal(database, [lane]);
    await giveBack(database, [{ ...lane, blockedMs: 0 }], batching.statements);
  }
  const open = await openBatches(world);
  const staying = new Set<string>();
  const unfilled = new Set<string>();
  for (const [batchId, { key, at, delayMs }] of world.opened) {
    const count = open.get(batchId);
    if (count === undefined && staying.has(key))
      world.violations.push(`${batchId} left before the earlier one`);
    if (count === undefined) continue;
    staying.add(key);
    if (world.now >= at + delayMs && count > 0)
      world.violations.push(`${batchId} stays open past the deadline of its first record`);
    const mayWait = unfilled.has(key) && world.now < at + patienceMs;
    if (count >= 100 && !mayWait) world.violations.push(`${batchId} is full and stays open`);
    if (count < 100) unfilled.add(key);
  }
}

async function openBatches({ database, common }: BatchWorld): Promise<Map<string, number>> {
  const rows = await database.raw(
    `SELECT b.id, (SELECT count(*)::int FROM record r WHERE r.project_id = b.project_id AND r.operation_id = b.id) AS n
    FROM ab_batch b WHERE b.project_id = $1`,
    [common.projectId],
  );
  return new Map(rows.map((row) => [row['id'] as string, row['n'] as number]));
}

export async function moveClock(world: BatchWorld, ms: number): Promise<void> {
  world.now += ms;
  await world.database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 millisecond'`, [ms]);
}

/** Everything leaves in the end; then the ledger holds each accepted record once, where its caller was told. */
export async function endOf(world: BatchWorld): Promise<string[]> {
  for (const node of world.nodes) dieGathering(node);
  for (let turn = 0; turn < 4; turn += 1) {
    await moveClock(world, 86_400_000);
    await sealDue(world);
  }
  const { violations: found, database, common, accepted } = world;
  if ((await openBatches(world)).size > 0) found.push('a batch never left');
  const rows = await database.raw(
    `SELECT r.operation_id, r.slot, r.entry, o.total, o.resource,
      (SELECT count(*)::int FROM work w WHERE w.project_id = o.project_id AND w.ref = o.id) AS works,
      (SELECT w.seq::int FROM work w WHERE w.project_id = o.project_id AND w.ref = o.id) AS seq
    FROM record r JOIN operation o ON o.project_id = r.project_id AND o.id = r.operation_id
    WHERE r.project_id = $1 ORDER BY r.operation_id, r.slot`,
    [common.projectId],
  );
  const places = Map.groupBy(rows, (row) => row['entry'] as string);
  for (const [entry, { batchId }] of accepted) {
    const held = places.get(entry) ?? [];
    if (held.length !== 1) found.push(`an accepted record stands in ${held.length} places`);
    if (held.some((row) => row['operation_id'] !== batchId)) found.push('a caller was told another batch');
  }
  for (const [batchId, members] of Map.groupBy(rows, (row) => row['operation_id'] as string)) {
    if (members.length > 100) found.push(`a batch of ${members.length}`);
    if (members.some((row) => row['total'] !== members.length))
      found.push(`${batchId} changed after it was sealed`);
    if (members.some((row) => row['works'] !== 1))
      found.push(`${batchId} has ${String(members[0]?.['works'])} work rows`);
  }
  found.push(
    ...outOfOrder(world, new Map(rows.map((row) => [row['entry'] as string, row['seq'] as number]))),
  );
  for (const [, told] of Map.groupBy(accepted.values(), ({ batchId }) => batchId)) {
    if (new Set(told.map(({ key }) => key)).size > 1) found.push('a batch holds two keys');
  }
  return found;
}

/** An entry that was accepted before another of the same record arrived must not leave later, whatever their batches. */
function outOfOrder({ accepted, arrivals }: BatchWorld, seqs: Map<string, number>): string[] {
  const entries = [...accepted].map(([id, { tick: acceptedAt }]) => {
    const { orderKey, tick } = arrivals.get(id) as { orderKey: string; tick: number };
    return { orderKey, tick, acceptedAt, seq: seqs.get(id) ?? 0 };
  });
  const found: string[] = [];
  for (const [orderKey, list] of Map.groupBy(entries, (entry) => entry.orderKey)) {
    let firstOfLater = Infinity;
    for (const [, members] of [...Map.groupBy(list, ({ seq }) => seq)].toSorted(([a], [b]) => b - a)) {
      if (members.some(({ tick }) => tick > firstOfLater)) found.push(`${orderKey} leaves out of order`);
      firstOfLater = Math.min(firstOfLater, ...members.map(({ acceptedAt }) => acceptedAt));
    }
  }
  return found;
}

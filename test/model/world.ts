import { attemptWrite, resolveStopped, type AttemptContext } from '../../src/actions/write/send/attempt.ts';
import { planWrite, type WriteScope } from '../../src/actions/write/prepare/plan.ts';
import { orderKeysOf } from '../../src/actions/write/prepare/prepare.ts';
import { keptOf, mayBeDone, restMsOf } from '../../src/actions/write/send/send.ts';
import type { WriteRequest } from '../../src/actions/write/schema.ts';
import { contextOf, type WorkContext } from '../../src/lanes/index.ts';
import type { HeldLane } from '../../src/lanes/store/lanes.ts';
import { attempt, resolveRescued } from '../../src/actions/write/kind.ts';
import type { RetryPolicy } from '../../src/actions/write/record/next-step.ts';
import { settle } from '../../src/actions/write/record/settle.ts';
import type { ItemResult, Sender } from '../../src/actions/write/send/sender.ts';
import type { WorkItem } from '../../src/operations/index.ts';
import { quietMsOf } from '../../src/actions/write/send/resolve.ts';
import { abilitiesOf } from '../../src/providers/index.ts';
import { connector, createModelProvider, type Fate, type ModelProvider } from './provider.ts';
import { leaseMs, type LedgerStore } from './store.ts';

/** What may be accepted. */
export const requests = [
  'plain',
  'keyed',
  'loose',
  'update',
  'batch of creates',
  'batch of updates',
  'all or none',
  'upsert',
  'batch of upserts',
  'delete',
] as const;
export type RequestName = (typeof requests)[number];

/** What is asked for of which object. `contacts` have a unique address, `things` a number that is not enforced. */
const shapes: Record<RequestName, { type: Kind; objectName: string; count: 1 | 3; allOrNone?: true }> = {
  plain: { type: 'create', objectName: 'companies', count: 1 },
  keyed: { type: 'create', objectName: 'contacts', count: 1 },
  loose: { type: 'create', objectName: 'things', count: 1 },
  update: { type: 'update', objectName: 'companies', count: 1 },
  'batch of creates': { type: 'create', objectName: 'companies', count: 3 },
  'batch of updates': { type: 'update', objectName: 'companies', count: 3 },
  'all or none': { type: 'create', objectName: 'companies', count: 3, allOrNone: true },
  upsert: { type: 'upsert', objectName: 'contacts', count: 1 },
  'batch of upserts': { type: 'upsert', objectName: 'contacts', count: 3 },
  delete: { type: 'delete', objectName: 'companies', count: 1 },
};
type Kind = 'create' | 'update' | 'upsert' | 'delete';

interface Hand {
  item: WorkItem;
  /** Absent until it was sent. */
  result?: ItemResult;
}

/** One node, as much of it as is lost when it dies. */
interface Node {
  lane?: HeldLane;
  /** By the node's own clock, which nobody sets. */
  leaseEndsAt: number;
  /** The database's clock was set ahead since its lease was written: others see the end of it sooner. */
  isMisled: boolean;
  hands: Hand[];
}

export interface Known {
  operationId: string;
  slot: number;
  kind: Kind;
  keyed: boolean;
  allOrNone?: true;
  target?: { id: string; order: number };
  /** Times that a write with it went out. */
  sends: number;
  /** A send of it was lost, or the node that had it in its hands. */
  excused: boolean;
  /** By the database's clock. */
  deadlineAt: number;
}

/** The real decisions on a store: what is accepted, claimed, taken, sent and recorded, one step at a time. */
export interface World {
  store: LedgerStore;
  provider: ModelProvider;
  nodes: [Node, Node];
  /** Time that passed, by the clocks of the nodes. */
  elapsed: number;
  /** The time of the database's clock, and the latest that it ever had. */
  clock: { now: number; latest: number };
  records: Map<string, Known>;
  orders: Map<string, number>;
  policy: RetryPolicy;
  /** What did not hold; the first one fails the history. */
  violations: string[];
}

const scope: Omit<WriteScope, 'objectName'> = {
  provider: 'hubspot',
  abilities: abilitiesOf('hubspot'),
  deletionEnabled: true,
  rules: { settings: {}, valueDefaults: {}, mappings: {}, unsetMappings: [] },
  limits: { recordBytes: 1e6, nesting: 20 },
};
const installationId = '0190a000-0000-7000-8000-00000000000a';
const nil = '0190a000-0000-7000-8000-00000000000b';

const deadlineSeconds = 3_600;
/** Between two attempts. */
export const longestWaitMs = 900_000;

export function createWorld(store: LedgerStore): World {
  const provider = createModelProvider();
  const world: World = {
    store,
    provider,
    nodes: [newNode(), newNode()],
    elapsed: 0,
    clock: { now: 0, latest: 0 },
    records: new Map(),
    orders: new Map(),
    policy: { baseMs: 1_000, capMs: longestWaitMs, random: () => 0.5 },
    violations: [],
  };
  provider.onLost = (markers) => {
    for (const marker of markers) {
      const known = world.records.get(marker);
      if (known) known.excused = true;
    }
  };
  provider.onWrite = (markers) => {
    for (const marker of markers) {
      const known = world.records.get(marker);
      if (known) known.sends += 1;
      else world.violations.push(`${marker} was sent before it was accepted`);
    }
  };
  return world;
}

function newNode(): Node {
  return { leaseEndsAt: -Infinity, isMisled: false, hands: [] };
}

export async function accept(world: World, name: RequestName, target: string): Promise<void> {
  const { type, objectName, count, allOrNone } = shapes[name];
  const marks = Array.from({ length: count }, (_, at) => `m${world.records.size + at}`);
  const records = marks.map((mark, at) => recordOf(name, mark, at === 1 ? 'other' : target));
  const request = {
    groupRef: 'g',
    type,
    ...(type === 'delete' ? {} : { mode: 'asynchronous', retryPolicy: { deadlineHours: 1 } }),
    ...(type === 'upsert' ? { upsertBy: 'email' } : {}),
    ...(allOrNone ? { batchPolicy: { allOrNone } } : {}),
    ...(count > 1 ? { batch: records.map((one) => ({ record: one })) } : { record: records[0] }),
  } as WriteRequest;
  const planned = planWrite(request, { ...scope, objectName });
  if ('refusal' in planned) throw planned.refusal;
  const { plan } = planned;
  const { upsertBy } = plan;
  const place = { installationId, provider: 'hubspot', objectName, upsertBy };
  const operationId = await world.store.accept({
    projectId: 'p',
    integrationId: nil,
    installationId,
    configId: nil,
    laneId: 'l',
    actionType: 'write',
    resource: objectName,
    // Any node may send a delete, too: what is synchronous about it is the waiting of its caller.
    request: { ...plan, mode: 'asynchronous', type: plan.kind, provider: 'hubspot', connectionId: 'l' },
    records: plan.records,
    deadlineSeconds,
    orderKeys: orderKeysOf(place, plan.records),
  });
  for (const [slot, mark] of marks.entries()) {
    const { id, key } = plan.records[slot] ?? {};
    const changed = type === 'delete' ? undefined : (id ?? key);
    world.records.set(mark, {
      operationId,
      slot,
      kind: type,
      keyed: objectName !== 'companies',
      sends: 0,
      excused: false,
      deadlineAt: world.clock.now + deadlineSeconds * 1_000,
      ...(allOrNone ? { allOrNone } : {}),
      ...(changed === undefined ? {} : { target: { id: changed, order: next(world.orders, changed) } }),
    });
  }
}

/** The first and the last of a batch change the same record. */
function recordOf(name: RequestName, mark: string, target: string): Record<string, string> {
  const { type, objectName } = shapes[name];
  if (type === 'delete') return { id: mark };
  if (type === 'update') return { mark, id: target };
  if (type === 'upsert') return { mark, email: `${target}@y.example` };
  if (objectName === 'contacts') return { mark, email: `${mark}@x.example` };
  return objectName === 'things' ? { mark, code: mark } : { mark };
}

function next(orders: Map<string, number>, id: string): number {
  const order = (orders.get(id) ?? 0) + 1;
  orders.set(id, order);
  return order;
}

export async function claim(world: World, node: Node): Promise<void> {
  const leaseEndsAt = world.elapsed + leaseMs;
  const claimed = await world.store.claim();
  if (!claimed) return;
  Object.assign(node, { lane: claimed.lane, leaseEndsAt, isMisled: false });
  for (const item of claimed.rescued) {
    excuse(world, item);
    node.hands.push({ item, result: await resolveRescued(item, senderOf(world), contextFor(world, node)) });
  }
}

export async function take(world: World, node: Node, room: number): Promise<void> {
  if (!node.lane || node.isMisled || !contextFor(world, node).mayStillSend()) return;
  const items = await world.store.take(node.lane, room);
  for (const item of items) {
    if (!item.expired && item.remainingMs <= 0) world.violations.push('an attempt began after the deadline');
    node.hands.push({ item });
  }
}

/** A whole attempt without an interruption; `fates` says what becomes of its calls. */
export async function send(world: World, node: Node, fates: readonly Fate[]): Promise<void> {
  const hand = node.hands.find(({ result }) => !result);
  if (!hand) return;
  const { item } = hand;
  const before = await world.store.stored();
  const work = before.find(({ operationId }) => operationId === item.operationId)?.work;
  const sent = [...world.records.values()].map(({ sends }) => sends);
  world.provider.coming = [...fates];
  const context = contextFor(world, node);
  hand.result =
    item.expired || context.mayStillSend()
      ? await attempt(item, senderOf(world), context)
      : { kind: 'postponed', inMs: 0 };
  world.provider.coming = [];
  const wasSent = [...world.records.values()].some(({ sends }, at) => sends > (sent[at] ?? 0));
  if (wasSent && (work?.state !== 1 || work.lease !== item.lease))
    world.violations.push(`${item.operationId} was sent without a mark of its own`);
}

export async function record(world: World, node: Node): Promise<void> {
  const at = node.hands.findIndex(({ result }) => result);
  const [hand] = at < 0 ? [] : node.hands.splice(at, 1);
  if (!hand?.result) return;
  const settled = settle(hand.item, hand.result, world.policy);
  checkWait(world, hand.result, settled.waitMs, settled.done);
  if (!(await world.store.record(settled))) excuse(world, hand.item);
}

function checkWait({ violations }: World, result: ItemResult, waitMs: number, done: boolean): void {
  if (done || result.kind !== 'outcomes') return;
  const wish = Math.max(
    ...result.outcomes.map((one) => (one.kind === 'applied' ? 0 : (one.failure.retryAfterMs ?? 0))),
  );
  if (waitMs < wish) violations.push(`the provider asked for ${wish} ms, the next attempt waits ${waitMs}`);
}

export async function extend(world: World, node: Node): Promise<void> {
  if (!node.lane) return;
  if (await world.store.extend(node.lane))
    Object.assign(node, { leaseEndsAt: world.elapsed + leaseMs, isMisled: false });
  else die(world, node);
}

export async function giveBack(world: World, node: Node, blockedMs: number): Promise<void> {
  if (!node.lane || node.hands.length > 0) return;
  await world.store.giveBack(node.lane, blockedMs);
  delete node.lane;
}

/** A node that is killed, or learns that it lost its lane, forgets what it had in its hands. */
export function die(world: World, node: Node): void {
  for (const { item } of node.hands) excuse(world, item);
  node.hands = [];
  delete node.lane;
}

export async function elapse(world: World, ms: number): Promise<void> {
  world.elapsed += ms;
  await moveClock(world, ms);
}

/**
 * Sets the database's clock. Set ahead, it ends leases that their holders still count on: a holder that has marked work, or marks
 * some later, then sends what another node may have taken over. No lease protects from that, so it does not happen in these
 * histories: the holder of a lane takes nothing more until its lease is written again.
 */
export async function setClock(world: World, ms: number): Promise<void> {
  const isBetween = world.nodes.some(({ hands }) => hands.some(({ result }) => !result));
  if (ms > 0 && isBetween) return;
  if (ms > 0) for (const node of world.nodes) node.isMisled ||= node.lane !== undefined;
  await moveClock(world, ms);
}

/** How long a lost create is held for open goes by the database's clock, so the provider's goes with it. */
async function moveClock({ provider, store, clock }: World, ms: number): Promise<void> {
  provider.pass(ms);
  await store.moveClock(ms);
  clock.now += ms;
  clock.latest = Math.max(clock.latest, clock.now);
}

function excuse({ records }: World, item: WorkItem): void {
  const slots = new Set(item.records.map(({ index }) => index));
  for (const known of records.values())
    if (known.operationId === item.operationId && slots.has(known.slot)) known.excused = true;
}

function contextFor(world: World, node: Node): WorkContext {
  const lease = {
    get leaseEndsAt() {
      return performance.now() + node.leaseEndsAt - world.elapsed;
    },
  };
  return contextOf(lease, new AbortController().signal, leaseMs);
}

function senderOf({ provider: { client } }: World): Sender {
  const describe: AttemptContext['describe'] = async () => ({
    object: { name: '', displayName: '', fields: {}, uniqueFields: [] },
  });
  const contextOfItem = (item: WorkItem, work: WorkContext): AttemptContext => ({
    connector,
    client,
    describe,
    signal: work.signal,
    tries: 1,
    isRepeat: mayBeDone(keptOf(item).given),
    mayStillSend: () => work.mayStillSend(),
  });
  return {
    async send(item, work) {
      const restMs = restMsOf(item, () => quietMsOf(connector));
      if (restMs > 0) return { kind: 'postponed', inMs: restMs };
      const { write, given } = keptOf(item);
      return { kind: 'outcomes', outcomes: await attemptWrite(write, given, contextOfItem(item, work)) };
    },
    async findOut(item, work) {
      const { write, given } = keptOf(item);
      return { kind: 'outcomes', outcomes: await resolveStopped(write, given, contextOfItem(item, work)) };
    },
  };
}

/** No more faults and no more deaths: a node works until nothing is left. */
export async function bringToEnd(world: World): Promise<void> {
  for (const node of world.nodes) die(world, node);
  const [node] = world.nodes;
  for (let turn = 0; turn < 80; turn += 1) {
    await elapse(world, leaseMs + 1_000);
    if ((await world.store.stored()).every(({ work }) => !work)) return;
    await claim(world, node);
    await take(world, node, 100);
    while (node.hands.length > 0) {
      await send(world, node, []);
      await record(world, node);
    }
    await giveBack(world, node, 0);
  }
  world.violations.push('something never ended');
}

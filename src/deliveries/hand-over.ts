import {
  contextOf,
  createNodeLanes,
  createRecorder,
  findStray,
  putBack,
  rest,
  type Kind,
  type Marked,
  type NodeLane,
} from '../lanes/index.ts';
import { sleep } from '../kit/retry.ts';
import { toldType, type TellNow, type TellOffer, type ToldMessage } from '../operations/index.ts';
import { inSpan } from '../kit/trace.ts';
import type { DeliveryDeps, DeliveryItem } from './delivery-kind.ts';
import { encodings } from './encoding.ts';
import type { KnownDestinations } from './known.ts';
import type { NewMessage } from './messages.ts';
import type { DeliveryEnd } from './settle.ts';
import type { MessageRow } from './store/load.ts';
import type { StartedMessage } from './store/messages.ts';

/**
 * Messages that this node has just made are sent from memory, as soon as they are durable: they are accepted as started in the
 * node's own lane, and their rows serve recovery alone. What fails goes back to the lane of its destination.
 */
export interface HandOver {
  /** To be asked right before messages of one destination are kept: some of them will name the lane of this node. */
  offer(messages: readonly NewMessage[]): Promise<Offer>;
  /** To be asked right before what tells of ends is kept. */
  offerTold: TellNow['offer'];
  /** Waits for what is under way; after the deadline it breaks off, and goes back. */
  close(deadlineMs?: number): Promise<void>;
}

export interface Offer {
  /** The same, to be kept. */
  messages: readonly NewMessage[];
  /** Sends what was kept as started, in the background. To be called in any case: with none of them when nothing was kept. */
  kept(started: readonly StartedMessage[]): void;
}

/** Under way at once; more waits in its lane, where slow endpoints hold nobody up. What tells of an end is small. */
const most = {
  records: { ofDestination: 8, inAll: 64 },
  told: { ofDestination: 32, inAll: 256 },
};
type Sort = keyof typeof most;
/** For recording what broke off at the deadline of a close. */
const graceMs = 1_500;
const defaultLeaseMs = 60_000;

type HandOverDeps = Pick<DeliveryDeps, 'ground' | 'kinds'> & {
  known: KnownDestinations;
  /** Something waits in the lane of the destination. */
  announce: (destinationId: string) => void;
};
type Send = (lane: NodeLane, item: DeliveryItem) => void;

interface State extends HandOverDeps {
  kind: Kind<DeliveryItem, DeliveryEnd>;
  leaseMs: number;
  /** Messages until their attempt is recorded: those of records from before they are kept. */
  underWay: Map<string, { destinationId: string; sort: Sort }>;
  /** What tells of ends and is being kept: which messages that makes is known with the answer. */
  telling: Set<Promise<void>>;
  sending: Map<Promise<void>, NodeLane>;
  isClosing: boolean;
}

export function createHandOver(
  deps: HandOverDeps,
  kind: Kind<DeliveryItem, DeliveryEnd>,
  { leaseMs = defaultLeaseMs }: { leaseMs?: number | undefined },
): HandOver {
  const { database, log } = deps.ground;
  const state: State = {
    ...deps,
    kind,
    leaseMs,
    underWay: new Map(),
    telling: new Set(),
    sending: new Map(),
    isClosing: false,
  };
  const lanes = createNodeLanes({ database, log, leaseMs, lookAfter: (held) => sendHome(state, held) });
  const recorder = createRecorder<DeliveryEnd>({ database, log }, kind);
  const record = (end: DeliveryEnd, lane: NodeLane): Promise<boolean> =>
    recorder.record(end, lane.cut.signal);
  const sendFrom: Send = (lane, item) => send(state, lane, item, record);
  return {
    async offer(messages) {
      const [first] = messages;
      const lane =
        first && (await mayTake(state, first))
          ? await lanes.of(first.projectId).catch(() => undefined)
          : undefined;
      return lane ? offerIn(state, lane, messages, sendFrom) : { messages, kept: () => undefined };
    },
    async offerTold(projectIds) {
      const asked = state.isClosing ? [] : projectIds;
      const found = await Promise.all(asked.map((id) => lanes.of(id).catch(() => undefined)));
      return offerToldIn(
        state,
        found.filter((lane) => lane !== undefined),
        sendFrom,
      );
    },
    async close(deadlineMs = 10_000) {
      state.isClosing = true;
      await ended(state, deadlineMs);
      for (const lane of state.sending.values()) lane.cut.abort();
      await ended(state, graceMs);
      await lanes
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'the lanes of deliveries were not given back'));
    },
  };
}

async function ended({ sending }: State, withinMs: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([Promise.all(sending.keys()), sleep(withinMs, over.signal)]);
  over.abort();
}

/** Nothing waits for a destination that works; otherwise its lane decides when something is tried. */
async function mayTake(
  { known, kinds, isClosing }: State,
  { projectId, destinationId }: NewMessage,
): Promise<boolean> {
  const row = await known.find(projectId, destinationId).catch(() => undefined);
  return !isClosing && row?.status === 'active' && row.failing_since === null && kinds.has(row.type);
}

function offerIn(state: State, lane: NodeLane, messages: readonly NewMessage[], sendFrom: Send): Offer {
  const { underWay } = state;
  const taken = messages.slice(0, roomFor(state, messages[0]?.destinationId ?? ''));
  for (const { id, destinationId } of taken) underWay.set(id, { destinationId, sort: 'records' });
  const { id, lease } = lane;
  return {
    messages: messages.map((one) => (underWay.has(one.id) ? { ...one, node: { id, lease } } : one)),
    kept(started) {
      const rows = new Map(started.map((row) => [row.id, row]));
      for (const message of taken) {
        const row = rows.get(message.id);
        if (!row) underWay.delete(message.id);
        else sendFrom(lane, itemOf(message, row, lane));
      }
    },
  };
}

function roomFor(state: State, destinationId: string): number {
  const there = onTheirWay(state, 'records');
  const { ofDestination, inAll } = most.records;
  return Math.max(0, Math.min(ofDestination - (there.get(destinationId) ?? 0), inAll - sumOf(there)));
}

/** How many there are for each destination. */
function onTheirWay({ underWay }: State, wanted: Sort): Map<string, number> {
  const there = new Map<string, number>();
  for (const { destinationId, sort } of underWay.values())
    if (sort === wanted) there.set(destinationId, (there.get(destinationId) ?? 0) + 1);
  return there;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0);
}

/** The statement that keeps what is told decides what of it is started. Two of them at once may each use all the room there is. */
function offerToldIn(state: State, lanes: readonly NodeLane[], sendFrom: Send): TellOffer {
  const { underWay, telling, kinds, announce } = state;
  const there = onTheirWay(state, 'told');
  const { promise, resolve } = Promise.withResolvers<void>();
  telling.add(promise);
  return {
    lanes,
    types: [...kinds.keys()],
    room: Math.max(0, most.told.inAll - sumOf(there)),
    each: most.told.ofDestination,
    onTheirWay: there,
    kept(told) {
      const left = new Set<string>();
      for (const message of told) {
        const { id, projectId, destinationId, started } = message;
        const lane = lanes.find((one) => one.projectId === projectId);
        if (!started || !lane) left.add(destinationId);
        else {
          underWay.set(id, { destinationId, sort: 'told' });
          sendFrom(lane, toldItemOf(message, started, lane));
        }
      }
      telling.delete(promise);
      resolve();
      left.forEach(announce);
    },
  };
}

function send(
  state: State,
  lane: NodeLane,
  item: DeliveryItem,
  record: (end: DeliveryEnd, lane: NodeLane) => Promise<boolean>,
): void {
  const { ground, underWay, sending } = state;
  const sent = sendNow(state, lane, item, record)
    .catch((error: unknown) => {
      const about = { projectId: item.projectId, deliveryId: item.ref, destinationId: item.laneId };
      ground.log.error({ ...about, err: error }, 'an outcome could not be recorded; it is sent again');
    })
    .finally(() => {
      underWay.delete(item.ref);
      sending.delete(sent);
    });
  sending.set(sent, lane);
}

async function sendNow(
  state: State,
  lane: NodeLane,
  item: DeliveryItem,
  record: (end: DeliveryEnd, lane: NodeLane) => Promise<boolean>,
): Promise<void> {
  const attributes = { 'svc.project_id': item.projectId, 'svc.work_ref': item.ref, 'svc.attempt': 1 };
  const span = { name: 'run delivery', kind: 'work' as const, attributes };
  // What tells of an end goes on in the trace of that; records in the one of their read, which runs here.
  const { end, laneWaitsMs } = await inSpan(
    item.trace === undefined ? span : { ...span, parent: item.trace ?? '' },
    () => state.kind.run(item, contextOf(lane, lane.cut.signal, state.leaseMs)),
  );
  if (laneWaitsMs !== undefined) await holdBack(state, item, laneWaitsMs);
  await record(end, lane);
  if (end.outcome?.status !== 'delivered') await forget(state, item);
}

/** The other side asked that nothing more comes for a while. Before it is recorded, which sends what fails to that lane. */
async function holdBack(
  { ground }: State,
  { projectId, laneId }: DeliveryItem,
  forMs: number,
): Promise<void> {
  await rest(ground.database, projectId, laneId, forMs).catch((error: unknown) =>
    ground.log.warn(
      { projectId, destinationId: laneId, err: error },
      'a destination that asks to wait may be sent more',
    ),
  );
}

/** That it fails now is known from its row. */
async function forget({ known }: State, { projectId, laneId }: DeliveryItem): Promise<void> {
  const row = await known.find(projectId, laneId).catch(() => undefined);
  if (row) known.forget(row);
}

/** As it is loaded from the rows of its message and its work. */
function itemOf(message: NewMessage, row: StartedMessage, lane: NodeLane): DeliveryItem {
  const { installationId, groupRef, object, records, keys, plain } = message;
  return startedItem(message, row.workSeq, lane, {
    seq: row.seq,
    installation_id: installationId,
    group_ref: groupRef,
    object,
    event_type: null,
    records,
    body: plain,
    links: message.result !== null,
    keys,
    created_at: new Date(row.createdAt),
  });
}

function toldItemOf(
  { trace, ...message }: ToldMessage,
  { workSeq, body }: NonNullable<ToldMessage['started']>,
  lane: NodeLane,
): DeliveryItem {
  const { installationId, groupRef, seq, createdAt } = message;
  const item = startedItem(message, workSeq, lane, {
    seq,
    installation_id: installationId,
    group_ref: groupRef,
    object: null,
    event_type: toldType,
    records: 0,
    body: Buffer.from(body),
    links: false,
    keys: '[]',
    created_at: createdAt,
  });
  return { ...item, trace };
}

function startedItem(
  { id, projectId, destinationId }: { id: string; projectId: string; destinationId: string },
  workSeq: string,
  { lease }: NodeLane,
  message: Omit<MessageRow, 'destination_id' | 'encoding' | 'replay' | 'replay_canceled'>,
): DeliveryItem {
  return {
    projectId,
    seq: workSeq,
    laneId: destinationId,
    isOfNode: true,
    lease,
    mark: null,
    kind: 'delivery',
    ref: id,
    attempt: 1,
    remainingMs: Infinity,
    expired: false,
    message: {
      ...message,
      destination_id: destinationId,
      encoding: encodings.plain,
      replay: false,
      replay_canceled: false,
    },
  };
}

/** What was kept as started and is none of ours: the answer to its commit was lost. It was not sent. */
async function sendHome(state: State, lanes: readonly NodeLane[]): Promise<void> {
  if (lanes.length === 0) return;
  const { ground, underWay, telling } = state;
  const found = await findStray(ground.database, lanes, [...underWay.keys()]);
  if (found.length === 0 || telling.size === 0) return putHome(state, found);
  // What was committed before the question may be answered after it. The lanes are renewed meanwhile.
  void Promise.all(telling)
    .then(() => putHome(state, found))
    .catch((error: unknown) => ground.log.warn({ err: error }, 'what nobody sends was not sent home'));
}

/** What began after the question is known by now; what ended meanwhile is refused by its fence. */
async function putHome({ ground, underWay }: State, found: readonly Marked[]): Promise<void> {
  for (const item of found) {
    if (underWay.has(item.ref)) continue;
    await putBack(ground.database, item, 0, false);
  }
}

import {
  contextOf,
  createNodeLanes,
  createRecorder,
  findStray,
  putBack,
  type Kind,
  type NodeLane,
} from '../lanes/index.ts';
import { sleep } from '../kit/retry.ts';
import type { DeliveryDeps, DeliveryItem } from './delivery-kind.ts';
import { encodings } from './encoding.ts';
import type { KnownDestinations } from './known.ts';
import type { NewMessage } from './messages.ts';
import type { DeliveryEnd } from './settle.ts';
import type { StartedMessage } from './store/messages.ts';

/**
 * Messages that this node has just made are sent from memory, as soon as they are durable: they are accepted as started in the
 * node's own lane, and their rows serve recovery alone. What fails goes back to the lane of its destination.
 */
export interface HandOver {
  /** To be asked right before messages of one destination are kept: some of them will name the lane of this node. */
  offer(messages: readonly NewMessage[]): Promise<Offer>;
  /** Waits for what is under way; after the deadline it breaks off, and goes back. */
  close(deadlineMs?: number): Promise<void>;
}

export interface Offer {
  /** The same, to be kept. */
  messages: readonly NewMessage[];
  /** Sends what was kept as started, in the background. To be called in any case: with none of them when nothing was kept. */
  kept(started: readonly StartedMessage[]): void;
}

/** Under way at once; more waits in its lane, where slow endpoints hold nobody up. */
const most = { ofDestination: 8, inAll: 64 };
/** For recording what broke off at the deadline of a close. */
const graceMs = 1_500;
const defaultLeaseMs = 60_000;

type HandOverDeps = Pick<DeliveryDeps, 'ground' | 'kinds'> & { known: KnownDestinations };

interface State extends HandOverDeps {
  kind: Kind<DeliveryItem, DeliveryEnd>;
  leaseMs: number;
  /** The destination of each message, from before it is kept until its attempt is recorded. */
  underWay: Map<string, string>;
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
    sending: new Map(),
    isClosing: false,
  };
  const lanes = createNodeLanes({ database, log, leaseMs, lookAfter: (held) => sendHome(state, held) });
  const recorder = createRecorder<DeliveryEnd>({ database, log }, kind);
  const record = (end: DeliveryEnd, lane: NodeLane): Promise<boolean> =>
    recorder.record(end, lane.cut.signal);
  return {
    async offer(messages) {
      const [first] = messages;
      const lane =
        first && (await mayTake(state, first))
          ? await lanes.of(first.projectId).catch(() => undefined)
          : undefined;
      return lane ? offerIn(state, lane, messages, record) : { messages, kept: () => undefined };
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

function offerIn(
  state: State,
  lane: NodeLane,
  messages: readonly NewMessage[],
  record: (end: DeliveryEnd, lane: NodeLane) => Promise<boolean>,
): Offer {
  const { underWay } = state;
  const taken = messages.slice(0, roomFor(state, messages[0]?.destinationId ?? ''));
  for (const { id, destinationId } of taken) underWay.set(id, destinationId);
  const { id, lease } = lane;
  return {
    messages: messages.map((one) => (underWay.has(one.id) ? { ...one, node: { id, lease } } : one)),
    kept(started) {
      const rows = new Map(started.map((row) => [row.id, row]));
      for (const message of taken) {
        const row = rows.get(message.id);
        if (!row) underWay.delete(message.id);
        else send(state, lane, itemOf(message, row, lane), record);
      }
    },
  };
}

function roomFor({ underWay }: State, destinationId: string): number {
  const there = [...underWay.values()].filter((id) => id === destinationId).length;
  return Math.max(0, Math.min(most.ofDestination - there, most.inAll - underWay.size));
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
  const { end } = await state.kind.run(item, contextOf(lane, lane.cut.signal, state.leaseMs));
  await record(end, lane);
  if (end.outcome?.status !== 'delivered') await forget(state, item);
}

/** That it fails now is known from its row. */
async function forget({ known }: State, { projectId, laneId }: DeliveryItem): Promise<void> {
  const row = await known.find(projectId, laneId).catch(() => undefined);
  if (row) known.forget(row);
}

/** As it is loaded from the rows of its message and its work. */
function itemOf(message: NewMessage, row: StartedMessage, lane: NodeLane): DeliveryItem {
  const { id, projectId, installationId, groupRef, object, destinationId, records, keys, plain } = message;
  return {
    projectId,
    seq: row.workSeq,
    laneId: destinationId,
    isOfNode: true,
    lease: lane.lease,
    kind: 'delivery',
    ref: id,
    attempt: 1,
    remainingMs: Infinity,
    expired: false,
    message: {
      seq: row.seq,
      installation_id: installationId,
      group_ref: groupRef,
      object,
      event_type: null,
      destination_id: destinationId,
      records,
      encoding: encodings.plain,
      body: plain,
      links: message.result !== null,
      keys,
      created_at: new Date(row.createdAt),
      replay: false,
    },
  };
}

/** What was kept as started and is none of ours: the answer to its commit was lost. It was not sent. */
async function sendHome({ ground, underWay }: State, lanes: readonly NodeLane[]): Promise<void> {
  if (lanes.length === 0) return;
  const found = await findStray(ground.database, lanes, [...underWay.keys()]);
  // What began after the question is known by now; what ended meanwhile is refused by its fence.
  for (const item of found) {
    if (underWay.has(item.ref)) continue;
    await putBack(ground.database, item, 0, false);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import { patiently } from '../suite/processes.ts';
import { chaosIn } from './chaos.ts';
import { runFiles } from './files.ts';
import { eventType, happen, keepRecords, messageTo, type Kept } from './made.ts';
import { judgeMeanwhile, keepGone, replayAndErase, wake, type Meanwhile } from './meanwhile.ts';
import type { Findings } from './report.ts';
import type { DeliverySettings } from './settings.ts';
import { addStations, type Held, type Station } from './stations.ts';
import {
  addWebhooks,
  ask,
  openWorld,
  passTime,
  restsFor,
  whatIsLeft,
  type RunOptions,
  type World,
} from './world.ts';

const drainMs = 120_000;
const drainMsPerWebhook = 5;
const perKeep = 20;
/** How many messages the group that is erased has, as a share of the messages of records. */
const erasedShare = 0.5;
const perKeepLater = 5;

/**
 * Messages to many webhooks and to one destination of each other kind, which fail, lose answers and are slow, while nodes and their
 * database die.
 */
export async function runDeliveries(settings: DeliverySettings, options: RunOptions): Promise<Findings> {
  const files = await runFiles(settings, options);
  const { endpoints, receiverFaults: faultRate, seed } = settings;
  const world = await openWorld(settings, { endpoints, faultRate, seed }, options);
  try {
    const webhooks = await addWebhooks(world, (at) => `endpoint-${at}`);
    const stations = await addStations(world, { faultRate, seed }, options.say);
    const aims: Aims = { webhooks, stations, told: await routeEvents(world, webhooks, stations) };
    const erased = Math.ceil(settings.webhooks * erasedShare);
    const gone = createRandom(seed, 'gone');
    const asleep = await keepGone(world, erased, (id) => messageTo(world.platform.projectId, gone, id));
    options.say('ready');
    const kept = new Map<string, Kept>();
    const end = new AbortController();
    const over = (): boolean => end.signal.aborted;
    const chaos = chaosIn(world, settings, { outage: sleep, over });
    const meanwhile = async (): Promise<Meanwhile> => {
      const half = (settings.webhooks + settings.notifications) / 2;
      while (kept.size < half) await sleep(100);
      return replayAndErase(world, webhooks, { erased, asleep });
    };
    let asked: Meanwhile | undefined;
    const load = async (): Promise<void> => {
      [asked] = await Promise.all([meanwhile(), keepAll(world, settings, aims, kept)]);
      while (!chaos.enough()) await again(world, settings, aims, kept);
      end.abort();
    };
    try {
      await Promise.all([chaos.run(), load(), tell(world, kept, over, options)]);
    } finally {
      end.abort();
    }
    if (!asked) throw new Error('nothing was replayed or erased');
    world.receiver.calm();
    await wake(world, asked);
    for (const station of stations) station.calm();
    const all = settings.webhooks + settings.notifications;
    const left = await drain(world, drainMs + all * drainMsPerWebhook);
    options.say('drained; comparing the ledgers');
    const { counts, violations } = await judge(world, kept, aims);
    return {
      counts: { ...counts, ...files.counts, replayed: asked.replayed.length, erased },
      violations: { ...violations, ...(await judgeMeanwhile(world, asked)), ...files.violations },
      deeds: chaos.deeds,
      left: [...left, ...files.left],
    };
  } finally {
    await world.close();
  }
}

async function tell(
  { receiver }: World,
  kept: ReadonlyMap<string, Kept>,
  over: () => boolean,
  { say }: RunOptions,
): Promise<void> {
  while (!over()) {
    await sleep(5_000, undefined, { ref: false });
    say(`${kept.size} kept, ${receiver.arrivals.size} arrived`);
  }
}

/** Where messages go: all endpoints by their ids, the other kinds, and those that are told of events. */
interface Aims {
  webhooks: readonly string[];
  stations: readonly Station[];
  told: readonly string[];
}

/** The share of messages that go to no webhook. */
const stationShare = 0.4;

function aimOf({ webhooks, stations }: Aims, random: Random): string {
  return random.next() < stationShare ? random.pick(stations).id : random.pick(webhooks);
}

async function keepAll(
  world: World,
  { webhooks, notifications, seed }: DeliverySettings,
  aims: Aims,
  kept: Map<string, Kept>,
): Promise<void> {
  const random = createRandom(seed, 'webhooks');
  const of = { projectId: world.platform.projectId, random };
  const count = Math.round((perKeep * notifications) / webhooks / aims.told.length);
  while (kept.size < webhooks + notifications) {
    await keepRecords(world.database, { ...of, count: perKeep }, () => aimOf(aims, random), kept);
    await happen(world.database, { ...of, count }, aims.told, kept);
    await sleep(random.int(40));
  }
}

/** Keeps more messages while nodes must still die, so that they have something to do. */
async function again(
  world: World,
  { seed }: DeliverySettings,
  aims: Aims,
  kept: Map<string, Kept>,
): Promise<void> {
  const random = createRandom(seed, `more ${kept.size}`);
  const of = { projectId: world.platform.projectId, random };
  await keepRecords(world.database, { ...of, count: perKeepLater }, () => aimOf(aims, random), kept);
  await happen(world.database, { ...of, count: 1 }, aims.told, kept);
  await sleep(300);
}

const toldEndpoints = 3;

/** The first endpoints are told of events, and every other kind that takes them. Answers with their ids. */
async function routeEvents(
  { platform }: World,
  webhooks: readonly string[],
  stations: readonly Station[],
): Promise<string[]> {
  const others = stations.flatMap(({ id, recordsOnly }) => (recordsOnly ? [] : [id]));
  const told = [...webhooks.slice(0, toldEndpoints), ...others];
  await ask(platform, 'PUT', `/projects/${platform.projectId}/notifications`, {
    routes: told.map((destination) => ({ eventTypes: [eventType], destination })),
  });
  return told;
}

/** Without faults, until nothing waits; time passes when everything waits for its next attempt. */
async function drain(world: World, forMs: number): Promise<string[]> {
  const giveUpAt = performance.now() + forMs;
  for (;;) {
    const left = await whatIsLeft(world);
    if (left.length === 0 || performance.now() > giveUpAt) return left;
    const ms = await restsFor(world);
    if (ms !== undefined) await passTime(world, ms);
    await sleep(300);
  }
}

interface DeliveryState {
  id: string;
  status: string;
}

/** Compares the suite's ledger with those of the receiver and of the other kinds, and all with what the platform says. */
async function judge(
  { database, receiver }: World,
  kept: ReadonlyMap<string, Kept>,
  { webhooks, stations }: Aims,
): Promise<Pick<Findings, 'counts' | 'violations'>> {
  const rows = await patiently(() => database.raw('SELECT message_id AS id, status FROM delivery'));
  const states = new Map((rows as unknown as DeliveryState[]).map(({ id, status }) => [id, status]));
  const ids = [...kept.keys()];
  const { arrivals, unverified, changed } = receiver;
  const held: Held[] = [];
  const counts: Record<string, number> = {};
  for (const station of stations) {
    const { kind, id } = station;
    const mine = [...kept].filter(([, { destination }]) => destination === id);
    const there = await station.look(new Map(mine.map(([message, { body }]) => [message, body])));
    held.push(there);
    counts[kind] = there.found.length;
  }
  const found = new Set(held.flatMap((one) => one.found));
  const wrongly = (id: string): boolean => {
    const [arrival, expected] = [arrivals.get(id), kept.get(id)];
    if (!arrival) return false;
    const at = webhooks.indexOf(expected?.destination ?? '');
    return arrival.hash !== expected?.hash || [...arrival.endpoints].join() !== String(at);
  };
  return {
    counts: {
      kept: kept.size,
      ...counts,
      requests: receiver.requests(),
      repeats: [...arrivals.values()].reduce((total, { times }) => total + times - 1, 0),
      failures: Object.values(receiver.faults).reduce((total, count) => total + count, 0),
    },
    violations: {
      lost: ids.filter((id) => !arrivals.get(id)?.taken && !found.has(id)),
      unsaid: ids.filter((id) => states.get(id) !== 'delivered').map((id) => `${id} ${states.get(id)}`),
      unverified,
      changed,
      wrong: [...ids.filter(wrongly), ...held.flatMap((one) => one.wrong)],
      strange: [...[...arrivals.keys()].filter((id) => !kept.has(id)), ...held.flatMap((one) => one.strange)],
    },
  };
}

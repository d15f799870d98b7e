import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import { cutMessages, keepMessages, type NewMessage } from '../../../src/deliveries/index.ts';
import { insertEvent } from '../../../src/events/store.ts';
import { decode } from '../../../src/deliveries/encoding.ts';
import { sqlState } from '../../../src/kit/db/database.ts';
import type { TestStore } from '../../../src/deliveries/s3/harness.testsuite.ts';
import { newId } from '../../../src/kit/ids.ts';
import { patiently } from '../suite/processes.ts';
import { chaosIn } from './chaos.ts';
import { judgeMeanwhile, keepGone, replayAndErase, wake, type Meanwhile } from './meanwhile.ts';
import type { Findings } from './report.ts';
import type { DeliverySettings } from './settings.ts';
import {
  addStore,
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
/** Messages of a group that is erased, beside all others. */
const erasedShare = 0.5;
const perKeepLater = 5;

/** A message that was kept, as the suite itself knows it. */
interface Kept {
  endpoint: number;
  hash: string;
}

/** Messages to many webhooks and a bucket that fail, lose answers and are slow, while nodes and their database die. */
export async function runDeliveries(settings: DeliverySettings, options: RunOptions): Promise<Findings> {
  const { endpoints, receiverFaults: faultRate, seed } = settings;
  const world = await openWorld(settings, { endpoints, faultRate, seed }, options);
  try {
    const webhooks = await addWebhooks(world, (at) => `endpoint-${at}`);
    const bucket = await addStore(world, 'archive', { faultRate, seed });
    const destinations = [...webhooks, bucket.id];
    const told = await routeEvents(world, destinations);
    const erased = Math.ceil(settings.webhooks * erasedShare);
    const gone = createRandom(seed, 'gone');
    const asleep = await keepGone(world, erased, (id) => messageTo(world.platform.projectId, gone, [id]));
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
      [asked] = await Promise.all([meanwhile(), keepAll(world, settings, { destinations, told }, kept)]);
      while (!chaos.enough()) await again(world, settings, { destinations, told }, kept);
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
    bucket.store.fault = undefined;
    const all = settings.webhooks + settings.notifications;
    const left = await drain(world, drainMs + all * drainMsPerWebhook);
    options.say('drained; comparing the ledgers');
    const { counts, violations } = await judge(world, kept, await objectsIn(bucket.store, webhooks.length));
    return {
      counts: { ...counts, replayed: asked.replayed.length, erased },
      violations: { ...violations, ...(await judgeMeanwhile(world, asked)) },
      deeds: chaos.deeds,
      left,
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

/** Where messages go: all endpoints by their ids, and those that are told of events. */
interface Aims {
  destinations: readonly string[];
  told: readonly string[];
}

async function keepAll(
  world: World,
  { webhooks, notifications, seed }: DeliverySettings,
  aims: Aims,
  kept: Map<string, Kept>,
): Promise<void> {
  const random = createRandom(seed, 'webhooks');
  const count = Math.round((perKeep * notifications) / webhooks / aims.told.length);
  while (kept.size < webhooks + notifications) {
    await keepSome(world, { random, count: perKeep }, aims.destinations, kept);
    await happen(world, { random, count }, aims, kept);
    await sleep(random.int(40));
  }
}

/** Goes on while nodes must still die, so that they have something to do. */
async function again(
  world: World,
  { seed }: DeliverySettings,
  aims: Aims,
  kept: Map<string, Kept>,
): Promise<void> {
  const random = createRandom(seed, `more ${kept.size}`);
  await keepSome(world, { random, count: perKeepLater }, aims.destinations, kept);
  await happen(world, { random, count: 1 }, aims, kept);
  await sleep(300);
}

async function keepSome(
  { database, platform }: World,
  { random, count }: { random: Random; count: number },
  destinations: readonly string[],
  kept: Map<string, Kept>,
): Promise<void> {
  const messages = await Promise.all(
    Array.from({ length: count }, () => messageTo(platform.projectId, random, destinations)),
  );
  await patiently(() => keepOnce(() => keepMessages(database, messages)));
  for (const { id, body, encoding, destinationId } of messages) {
    const hash = createHash('sha256')
      .update(await decode(body, encoding))
      .digest('base64');
    kept.set(id, { endpoint: destinations.indexOf(destinationId), hash });
  }
}

const eventType = 'connection.error';
const toldEndpoints = 3;

/** The first endpoints and the bucket are told of events. Answers with their ids. */
async function routeEvents({ platform }: World, destinations: readonly string[]): Promise<string[]> {
  const told = [...destinations.slice(0, toldEndpoints), ...destinations.slice(-1)];
  await ask(platform, 'PUT', `/projects/${platform.projectId}/notifications`, {
    routes: told.map((destination) => ({ eventTypes: [eventType], destination })),
  });
  return told;
}

/** Events that happen, each with what it tells of in one commit, and beside them one that is rolled back: nobody may hear of it. */
async function happen(
  { database, platform: { projectId } }: World,
  { random, count }: { random: Random; count: number },
  { destinations, told }: Aims,
  kept: Map<string, Kept>,
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const id = newId();
    const data = `{"n":${random.pick(values)}, "text":"${random.text(200 + random.int(500))}"}`;
    const happening = { type: eventType, groupRef: 'acme', data } as const;
    await patiently(() => keepOnce(() => insertEvent(database, projectId, id, happening)));
    const hash = createHash('sha256')
      .update(`{"notificationType":"${eventType}","data":${data}}`)
      .digest('base64');
    for (const destinationId of told)
      kept.set(idOf(id, destinationId), { endpoint: destinations.indexOf(destinationId), hash });
  }
  const undone = database.transaction(async (tx) => {
    await insertEvent(tx, projectId, newId(), { type: eventType, groupRef: 'acme', data: '{"undone":true}' });
    throw new Error('undone');
  });
  await undone.catch(() => undefined);
}

/** The id of the message that tells a destination of an event (docs/invariants.md, 30). */
function idOf(eventId: string, destinationId: string): string {
  const hash = createHash('md5')
    .update(eventId + destinationId)
    .digest('hex');
  return `${eventId.slice(0, 15)}${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** A commit whose answer was lost is not made twice. */
async function keepOnce(keep: () => Promise<unknown>): Promise<void> {
  try {
    await keep();
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
  }
}

/** Texts that another writer of JSON would write in another way. */
const values = [
  '1.50',
  '12345678901234567890',
  '1e400',
  '-0',
  '"\\u00e9\\/"',
  '"é\\u2028😀"',
  '{"b":1,"a":2.0}',
];

async function messageTo(
  projectId: string,
  random: Random,
  destinations: readonly string[],
): Promise<NewMessage> {
  const installationId = newId();
  const entries = Array.from({ length: 1 + random.int(3) }, (_, at) => ({
    json: `{"fields":{"n":${random.pick(values)}}, "text":"${random.text(200 + random.int(2_000))}"}`,
    key: { id: String(at), version: '2026-01-01T00:00:00.000Z', deleted: false },
  }));
  const names = { groupRef: 'acme', groupName: 'Acme', consumerRef: 'ada', consumerName: 'Ada' };
  const [message] = await cutMessages(
    {
      action: 'read',
      projectId,
      provider: 'hubspot',
      ...names,
      installationId,
      installationUpdateTime: '2026-01-01T00:00:00.000Z',
      objectName: 'people',
      rawObjectName: 'contacts',
    },
    entries,
    {
      projectId,
      operationId: null,
      installationId,
      groupRef: names.groupRef,
      object: 'people',
      destinationId: random.pick(destinations),
      page: 1,
      publicUrl: 'https://svc.example',
    },
  );
  if (!message) throw new Error('no message was made');
  return message;
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

/** A message that the bucket has, in the place of an arrival at an endpoint. */
async function objectsIn(store: TestStore, endpoint: number): Promise<Map<string, Kept>> {
  const objects = await store.objects();
  return new Map(
    objects.map(({ key, text }) => {
      const hash = createHash('sha256').update(text).digest('base64');
      return [key.replace(/^.*\//, ''), { endpoint, hash }];
    }),
  );
}

interface DeliveryState {
  id: string;
  status: string;
}

/** Compares the suite's ledger with that of the receiver, and both with what the platform says. */
async function judge(
  { database, receiver }: World,
  kept: ReadonlyMap<string, Kept>,
  objects: ReadonlyMap<string, Kept>,
): Promise<Pick<Findings, 'counts' | 'violations'>> {
  const rows = await patiently(() => database.raw('SELECT message_id AS id, status FROM delivery'));
  const states = new Map((rows as unknown as DeliveryState[]).map(({ id, status }) => [id, status]));
  const ids = [...kept.keys()];
  const { arrivals, unverified, changed } = receiver;
  const wrongly = (id: string): boolean => {
    const [arrival, object, expected] = [arrivals.get(id), objects.get(id), kept.get(id)];
    if (object) return !!arrival || object.hash !== expected?.hash || object.endpoint !== expected.endpoint;
    return (
      !!arrival &&
      (arrival.hash !== expected?.hash || [...arrival.endpoints].join() !== `${expected.endpoint}`)
    );
  };
  const requests = receiver.requests();
  return {
    counts: {
      kept: kept.size,
      objects: objects.size,
      requests,
      repeats: [...arrivals.values()].reduce((total, { times }) => total + times - 1, 0),
      failures: Object.values(receiver.faults).reduce((total, count) => total + count, 0),
    },
    violations: {
      lost: ids.filter((id) => !arrivals.get(id)?.taken && !objects.has(id)),
      unsaid: ids.filter((id) => states.get(id) !== 'delivered').map((id) => `${id} ${states.get(id)}`),
      unverified,
      changed,
      wrong: ids.filter(wrongly),
      strange: [...arrivals.keys(), ...objects.keys()].filter((id) => !kept.has(id)),
    },
  };
}

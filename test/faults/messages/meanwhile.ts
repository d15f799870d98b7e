import { setTimeout as sleep } from 'node:timers/promises';
import { keepMessages, type NewMessage } from '../../../src/deliveries/index.ts';
import { patiently } from '../suite/processes.ts';
import { ask, type World } from './world.ts';

/** What is asked for while nodes die: a replay of what was delivered, and the erasure of a group. */
export interface Meanwhile {
  /** What every replay must send again. */
  replayed: readonly string[];
  replays: readonly string[];
  /** How many messages of the group there were. */
  erased: number;
  /** Where they waited. */
  asleep: string;
}

const replayedEndpoints = 10;
const fewestReplayed = 20;
const goneGroup = 'gone';

/** A destination that is disabled, and messages of a group for it: nobody may ever hear of them once they are erased. */
export async function keepGone(
  { database, platform, receiver }: World,
  count: number,
  make: (destinationId: string) => Promise<NewMessage>,
): Promise<string> {
  const path = `/projects/${platform.projectId}/destinations`;
  const { id } = await ask<{ id: string }>(platform, 'POST', path, {
    name: 'asleep',
    type: 'webhook',
    metadata: { url: receiver.urls[0] },
    secrets: { webhookSigningKey: receiver.signingKey },
  });
  await ask(platform, 'POST', `${path}/${id}:disable`);
  for (let kept = 0; kept < count; kept += 100) {
    const some = await Promise.all(Array.from({ length: Math.min(100, count - kept) }, () => make(id)));
    await keepMessages(
      database,
      some.map((message) => Object.assign(message, { groupRef: goneGroup })),
    );
  }
  return id;
}

/** Asks again where the node that was asked is dead. */
async function askOn<Body>(world: World, path: string, body: unknown): Promise<Body> {
  for (let tries = 0; ; tries += 1)
    try {
      return await ask<Body>(world.platform, 'POST', `/projects/${world.platform.projectId}${path}`, body);
    } catch (error) {
      if (tries > 120) throw error;
      await sleep(500);
    }
}

export async function replayAndErase(
  world: World,
  destinations: readonly string[],
  { erased, asleep }: { erased: number; asleep: string },
): Promise<Meanwhile> {
  const some = destinations.slice(0, replayedEndpoints);
  await askOn(world, '/erasures', { groupRef: goneGroup });
  const deliveredThere = () =>
    patiently(() =>
      world.database.raw(
        `SELECT message_id AS id FROM delivery WHERE destination_id = ANY ($1::uuid[]) AND status = 'delivered'`,
        [some],
      ),
    );
  let rows = await deliveredThere();
  for (let tries = 0; rows.length < fewestReplayed && tries < 120; tries += 1) {
    await sleep(500);
    rows = await deliveredThere();
  }
  const replays: string[] = [];
  for (const destination of some) {
    const filter = { destination, status: 'delivered' };
    const { replayId } = await askOn<{ replayId: string }>(world, '/deliveries:replay', { filter });
    replays.push(replayId);
  }
  return { replayed: rows.map(({ id }) => String(id)), replays, erased, asleep };
}

/** Enables the destination, so that the work of the erased messages is due: it must end without them. */
export async function wake(world: World, { asleep }: Meanwhile): Promise<void> {
  await askOn(world, `/destinations/${asleep}:enable`, undefined);
}

interface Progress {
  status: string;
  progress: { queued: number; delivered: number; failed: number };
}

/** The violations of the replays and of the erasure. */
export async function judgeMeanwhile(
  { database, platform, receiver }: World,
  { replayed, replays, erased }: Meanwhile,
): Promise<Record<'notReplayed' | 'miscounted' | 'notErased', string[]>> {
  const of = `/projects/${platform.projectId}`;
  const miscounted: string[] = [];
  for (const id of replays) {
    const { status, progress } = await ask<Progress>(platform, 'GET', `${of}/replays/${id}`);
    const { queued, delivered, failed } = progress;
    if (status !== 'done' || failed > 0 || delivered !== queued)
      miscounted.push(`${id} ${status} ${JSON.stringify(progress)}`);
  }
  const left = await database.raw('SELECT id FROM message WHERE group_ref = $1', [goneGroup]);
  // Where an answer was lost, the erasure was asked for twice; only one of them finds messages.
  const [told] = await database.raw(
    `SELECT bool_and(status = 'done') AS "isDone", sum((removed->>'messages')::int)::int AS removed FROM erasure`,
  );
  const isTold = told?.['isDone'] === true && told['removed'] === erased;
  return {
    notReplayed: replayed.filter((id) => !receiver.arrivals.get(id)?.replays),
    miscounted,
    notErased: [
      ...left.map(({ id }) => String(id)),
      ...(isTold ? [] : [`${JSON.stringify(told)} of ${erased} messages`]),
    ],
  };
}

import { Pool } from 'undici';
import { openDatabase } from '../src/kit/db/database.ts';
import { timed, type LoadTarget } from './load.ts';
import { postmasterOf, processorMs, processorMsOfAll } from './process.ts';
import type { Pair } from './figure.ts';
import { plainRecord, type Provider } from './provider.ts';
import { setPaused, targetsOf, untilDone, type QueueTarget } from './queue.ts';
import { startStage, type Node, type Stage } from './stage.ts';

/** Of each process. */
const callers = 32;

/** Asynchronous writes of one contact each, accepted over HTTP, in turn for each group of a stage. */
export interface QueuedWrites {
  /** Waits until all of them are accepted. */
  write(count: number): Promise<void>;
  /** Nothing is taken from the lanes of the installations meanwhile. */
  pause(paused: boolean): Promise<void>;
  /** Waits until nothing is left in the lanes of the installations, and in those that are named. */
  untilDone(more?: readonly Pick<QueueTarget, 'projectId' | 'laneId'>[]): Promise<void>;
  /** Processor time of service and database so far, in milliseconds. */
  spentMs(): number;
  close(): Promise<void>;
}

/** Two services over one provider: what a write costs both processes of each, in microseconds. */
export async function compareWrites(
  provider: Provider,
  [value, yardstick]: readonly [Readonly<Record<string, string>>, Readonly<Record<string, string>>],
  { writes, settleMs }: { writes: number; settleMs: number },
): Promise<{ run(): Promise<Pair>; close(): Promise<void> }> {
  const open = async (env: Readonly<Record<string, string>>) => {
    const stage = await startStage(provider.origin, { groups: provider.groups, env });
    return { stage, load: await openQueuedWrites(stage) };
  };
  const [ours, theirs] = [await open(value), await open(yardstick)];
  async function cost({ load }: typeof ours): Promise<number> {
    const before = load.spentMs();
    await load.write(writes);
    await load.untilDone();
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    return ((load.spentMs() - before) / writes) * 1_000;
  }
  return {
    run: async () => ({ value: await cost(ours), yardstick: await cost(theirs) }),
    close: async () => {
      for (const { load, stage } of [ours, theirs]) {
        await load.close();
        await stage.close();
      }
    },
  };
}

/** The writes go to the processes in turn. */
export async function openQueuedWrites(
  stage: Stage,
  nodes: readonly Node[] = [stage],
): Promise<QueuedWrites> {
  const database = openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'svc bench' });
  const targets = await targetsOf(database);
  const postmaster = await postmasterOf(database);
  const pools = nodes.map(({ base }) => new Pool(base, { connections: callers }));
  const target: Omit<LoadTarget, 'body'> = {
    origin: stage.base,
    path: `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`,
    method: 'POST',
    headers: { 'x-api-key': stage.apiKey, 'content-type': 'application/json' },
  };
  let next = 0;
  return {
    async write(count) {
      let left = count;
      await Promise.all(
        Array.from({ length: callers * pools.length }, async (_, caller) => {
          const pool = pools[caller % pools.length] as Pool;
          while ((left -= 1) >= 0) {
            const { groupRef } = stage.installed[(next += 1) % stage.installed.length] ?? {};
            const body = { groupRef, type: 'create', mode: 'asynchronous', record: plainRecord };
            await timed(pool, { ...target, body: JSON.stringify(body) });
          }
        }),
      );
    },
    untilDone: (more = []) => untilDone(database, [...targets, ...more], { everyMs: 100, withinMs: 120_000 }),
    pause: (paused) => setPaused(database, targets, paused),
    spentMs: () => nodes.reduce((sum, { pid }) => sum + processorMs(pid), 0) + processorMsOfAll(postmaster),
    close: async () => {
      await Promise.all([...pools.map((pool) => pool.close()), database.close()]);
    },
  };
}

import { Pool } from 'undici';
import { openDatabase } from '../src/kit/db/database.ts';
import { timed, type LoadTarget } from './load.ts';
import { postmasterOf, processorMs, processorMsOfAll } from './process.ts';
import { plainRecord } from './provider.ts';
import { targetsOf, untilDone, type QueueTarget } from './queue.ts';
import type { Stage } from './stage.ts';

const callers = 32;

/** Asynchronous writes of one contact each, accepted over HTTP, in turn for each group of a stage. */
export interface QueuedWrites {
  /** Waits until all of them are accepted. */
  write(count: number): Promise<void>;
  /** Waits until nothing is left in the lanes of the installations, and in those that are named. */
  untilDone(more?: readonly Pick<QueueTarget, 'projectId' | 'laneId'>[]): Promise<void>;
  /** Processor time of service and database so far, in milliseconds. */
  spentMs(): number;
  close(): Promise<void>;
}

export async function openQueuedWrites(stage: Stage): Promise<QueuedWrites> {
  const database = openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'svc bench' });
  const targets = await targetsOf(database);
  const postmaster = await postmasterOf(database);
  const pool = new Pool(stage.base, { connections: callers });
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
        Array.from({ length: callers }, async () => {
          while ((left -= 1) >= 0) {
            const { groupRef } = stage.installed[(next += 1) % stage.installed.length] ?? {};
            const body = { groupRef, type: 'create', mode: 'asynchronous', record: plainRecord };
            await timed(pool, { ...target, body: JSON.stringify(body) });
          }
        }),
      );
    },
    untilDone: (more = []) => untilDone(database, [...targets, ...more], { everyMs: 100, withinMs: 120_000 }),
    spentMs: () => processorMs(stage.pid) + processorMsOfAll(postmaster),
    close: async () => {
      await Promise.all([pool.close(), database.close()]);
    },
  };
}

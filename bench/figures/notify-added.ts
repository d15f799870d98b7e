import { Pool } from 'undici';
import { openDatabase } from '../../src/kit/db/database.ts';
import { makeDestinations } from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { timed, type LoadTarget } from '../load.ts';
import { postmasterOf, processorMs, processorMsOfAll } from '../process.ts';
import { plainRecord, startProvider } from '../provider.ts';
import { targetsOf, untilDone } from '../queue.ts';
import { startReceiver } from '../receiver.ts';
import { startStage } from '../stage.ts';

const groups = 20;
const callers = 32;
const writes = scaled(10_000);

/** Each half accepts its writes over HTTP and waits until all of them, and their notifications, are done. */
export const notifyAdded: Figure = {
  id: 'notify-added',
  about: `processor time of service and database for an asynchronous write of which a webhook is told, ${writes} of them`,
  unit: 'µs',
  yardstick: 'the same without a route',
  goal: { of: 'ratio', atMost: 1.5 },
  prepare: async () => {
    const provider = await startProvider(groups);
    const receiver = await startReceiver(1);
    const stage = await startStage(provider.origin, { groups: provider.groups });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'svc bench' });
    const targets = await targetsOf(database);
    const [lane] = await makeDestinations(stage, [{ type: 'webhook', metadata: { url: receiver.urls[0] } }]);
    const lanes = [...targets, ...(lane ? [lane] : [])];
    const pool = new Pool(stage.base, { connections: callers });
    const postmaster = await postmasterOf(database);
    const spent = (): number => processorMs(stage.pid) + processorMsOfAll(postmaster);
    let next = 0;
    const target: Omit<LoadTarget, 'body'> = {
      origin: stage.base,
      path: `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`,
      method: 'POST',
      headers: { 'x-api-key': stage.apiKey, 'content-type': 'application/json' },
    };
    async function write(count: number): Promise<void> {
      let left = count;
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while ((left -= 1) >= 0) {
            const groupRef = `g${(next += 1) % groups}`;
            const body = { groupRef, type: 'create', mode: 'asynchronous', record: plainRecord };
            await timed(pool, { ...target, body: JSON.stringify(body) });
          }
        }),
      );
    }
    async function half(routes: readonly object[]): Promise<number> {
      await stage.call('PUT', `/v1/projects/${stage.projectId}/notifications`, { routes });
      await receiver.reset();
      const before = spent();
      await write(writes);
      if (routes.length > 0) await receiver.until(writes);
      await untilDone(database, lanes, { everyMs: 100, withinMs: 120_000 });
      return ((spent() - before) / writes) * 1_000;
    }
    return {
      run: async () => ({
        value: await half([{ eventTypes: ['write.async.done'], destination: 'd0' }]),
        yardstick: await half([]),
      }),
      close: async () => {
        await Promise.all([pool.close(), database.close()]);
        await stage.close();
        await receiver.close();
        await provider.close();
      },
    };
  },
};

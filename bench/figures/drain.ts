import { openDatabase } from '../../src/kit/db/database.ts';
import { scaled, type Figure } from '../figure.ts';
import { closedLoad } from '../load.ts';
import { startProvider } from '../provider.ts';
import { enqueue, setPaused, targetsOf, untilDone } from '../queue.ts';
import { startStage } from '../stage.ts';

const connections = 100;
const writes = scaled(100_000);
const callers = 64;
const seconds = 4;

/** A backlog is accepted while its lanes are paused, and timed from the moment in which they are resumed. */
export const drain: Figure = {
  id: 'drain',
  about: `${writes} queued single writes over ${connections} connections, done`,
  unit: 'writes/s',
  yardstick: `the simulator under a bare undici client, ${callers} callers`,
  goal: { of: 'ratio', atLeast: 0.3 },
  prepare: async () => {
    const provider = await startProvider(connections);
    const stage = await startStage(provider.origin, { groups: provider.groups });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 10, applicationName: 'svc bench' });
    const targets = await targetsOf(database);
    return {
      run: async () => {
        await setPaused(database, targets, true);
        await enqueue(database, targets, writes / connections);
        const startedAt = performance.now();
        await setPaused(database, targets, false);
        await untilDone(database, targets, { everyMs: 100, withinMs: 300_000 });
        const value = writes / ((performance.now() - startedAt) / 1000);
        return { value, yardstick: (await closedLoad(provider.create, callers, seconds)).perSecond };
      },
      close: async () => {
        await database.close();
        await stage.close();
        await provider.close();
      },
    };
  },
};

import { openDatabase } from '../../src/kit/db/database.ts';
import { scaled, type Figure } from '../figure.ts';
import { residentMb } from '../process.ts';
import { startProvider } from '../provider.ts';
import { announce, enqueue, targetsOf } from '../queue.ts';
import { startStage } from '../stage.ts';

const connections = 100;
const records = scaled(1_000_000);
const watchMs = 30_000;

/** The provider is at its limit: every lane is tried, goes back to wait, and is tried again. */
export const waitingMemory: Figure = {
  id: 'waiting-memory',
  about: `resident memory with ${records} records waiting for a provider at its limit, highest in ${watchMs / 1000} s`,
  unit: 'MB',
  yardstick: 'idle after its start',
  goal: { of: 'difference', atMost: 150 },
  once: true,
  prepare: async () => {
    const provider = await startProvider(connections);
    const stage = await startStage(provider.origin, { groups: provider.groups });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 4, applicationName: 'svc bench' });
    return {
      run: async () => {
        await provider.throttle();
        await pause(5_000);
        const yardstick = residentMb(stage.pid);
        await enqueue(database, await targetsOf(database), records / connections);
        await announce(database);
        let value = 0;
        for (const endAt = performance.now() + watchMs; performance.now() < endAt; await pause(250)) {
          value = Math.max(value, residentMb(stage.pid));
        }
        return { value, yardstick };
      },
      close: async () => {
        await database.close();
        await stage.close();
        await provider.close();
      },
    };
  },
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

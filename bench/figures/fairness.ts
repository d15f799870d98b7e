import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { scaled, type Figure } from '../figure.ts';
import { startProvider } from '../provider.ts';
import { announce, enqueue, setPaused, targetsOf, untilDone, type QueueTarget } from '../queue.ts';
import { startStage } from '../stage.ts';

const small = 10;
const itemsEach = 10;
const backlog = scaled(50_000);
/** So that it is in the middle of the backlog when the others come. */
const headStartMs = 1_000;

/** Milliseconds from the acceptance of the small connections' items until all are done. */
async function doneIn(database: Database, targets: readonly QueueTarget[]): Promise<number> {
  const since = performance.now();
  await enqueue(database, targets, itemsEach);
  await announce(database);
  await untilDone(database, targets, { everyMs: 3, withinMs: 120_000 });
  return performance.now() - since;
}

export const fairness: Figure = {
  id: 'fairness',
  about: `until ${small} connections with ${itemsEach} items each are done behind one with ${backlog}`,
  unit: 'ms',
  yardstick: 'the same ten alone',
  goal: { of: 'ratio', atMost: 3 },
  prepare: async () => {
    const provider = await startProvider(small + 1);
    const stage = await startStage(provider.origin, { groups: provider.groups });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 4, applicationName: 'svc bench' });
    const [large, ...others] = await targetsOf(database);
    if (!large) throw new Error('nothing is installed');
    return {
      run: async () => {
        const yardstick = await doneIn(database, others);
        await setPaused(database, [large], true);
        await enqueue(database, [large], backlog);
        await setPaused(database, [large], false);
        await new Promise((resolve) => setTimeout(resolve, headStartMs));
        const value = await doneIn(database, others);
        await setPaused(database, [large], true);
        await drop(database, large);
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

/** What is left of the backlog, but for the items that are on their way. */
async function drop(database: Database, target: QueueTarget): Promise<void> {
  const left = [target.projectId, target.laneId];
  await database.raw('DELETE FROM work WHERE project_id = $1 AND lane_id = $2 AND state = 0', left);
  await untilDone(database, [target], { everyMs: 50, withinMs: 30_000 });
  await database.raw('VACUUM work, lane, wake');
}

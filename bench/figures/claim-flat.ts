import type { Database } from '../../src/kit/db/database.ts';
import { newId } from '../../src/kit/ids.ts';
import { claimDue } from '../../src/lanes/claim.ts';
import { take } from '../../src/lanes/store/work.ts';
import { fold } from '../../src/lanes/store/lanes.ts';
import { scaled, type Figure } from '../figure.ts';
import { percentiles } from '../load.ts';
import { makeLedger } from '../postgres.ts';
import { enqueue, looseTarget } from '../queue.ts';

const few = 10;
const manyLanes = 100_000;
const claims = 100;
const noProject = '00000000-0000-0000-0000-000000000000';

interface Backlog {
  /** Milliseconds of one claim with its take. */
  claimOnce(): Promise<number>;
  tidy(): Promise<unknown>;
  close(): Promise<void>;
}

/** Half of the items in one lane, half over at most 100,000 others. The one lane is the longest due, and is always claimed. */
async function makeBacklog(items: number): Promise<Backlog> {
  const { database, close } = await makeLedger(4);
  const projectId = newId();
  const half = items / 2;
  const lanes = Math.min(half, manyLanes);
  const [big, ...others] = Array.from({ length: lanes + 1 }, () => looseTarget(projectId));
  if (!big) throw new Error('there is no lane');
  await enqueue(database, [big], half);
  await enqueue(database, others, half / lanes);
  while ((await fold(database)).length > 0);
  await database.raw(
    "UPDATE lane SET due_at = svc_now() - interval '1 hour' * CASE WHEN id = $2 THEN 2 ELSE 1 END WHERE project_id = $1",
    [projectId, big.laneId],
  );
  const backlog: Backlog = {
    claimOnce: () => claimOnce(database),
    // As the workers do after every 50,000 completions.
    tidy: () => database.raw('VACUUM work, lane, wake'),
    close,
  };
  await backlog.tidy();
  return backlog;
}

/** Takes one item of each of five lanes, however long the queue is; then everything is put back. */
async function claimOnce(database: Database): Promise<number> {
  const since = performance.now();
  const claimed = await claimDue(database, {
    afterProject: noProject,
    limit: 5,
    leaseMs: 60_000,
    lost: new Set(),
  });
  const items = await take(
    database,
    claimed.map(({ lane }) => Object.assign({ room: 1 }, lane)),
  );
  const took = performance.now() - since;
  if (items.length !== 5) throw new Error(`${items.length} items were taken, not five`);
  const lease = items[0]?.lease;
  await database.raw('UPDATE work SET state = 0, lease = NULL, attempt = 0 WHERE seq = ANY ($1)', [
    items.map(({ seq }) => seq),
  ]);
  await database.raw(
    `UPDATE lane SET lease = NULL, due_at = svc_now() - interval '1 hour' * CASE WHEN id = $2 THEN 2 ELSE 1 END WHERE lease = $1`,
    [lease, items[0]?.laneId],
  );
  return took;
}

function flat(id: string, items: number): Figure {
  return {
    id,
    about: `a claim of five lanes and a take with ${items} items waiting, p50`,
    unit: 'ms',
    yardstick: `the same with ${few} waiting`,
    goal: { of: 'ratio', atMost: 2 },
    prepare: async () => {
      const short = await makeBacklog(few);
      const long = await makeBacklog(items);
      return {
        run: async () => {
          const [ofShort, ofLong]: [number[], number[]] = [[], []];
          for (let n = 0; n < claims; n += 1) {
            ofLong.push(await long.claimOnce());
            ofShort.push(await short.claimOnce());
          }
          await Promise.all([long.tidy(), short.tidy()]);
          return { value: percentiles(ofLong).p50, yardstick: percentiles(ofShort).p50 };
        },
        close: async () => {
          await short.close();
          await long.close();
        },
      };
    },
  };
}

export const claimFlatThousands = flat('claim-flat-10k', 10_000);
export const claimFlatMillion = flat('claim-flat-1m', scaled(1_000_000));

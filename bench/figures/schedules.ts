import type { Database } from '../../src/kit/db/database.ts';
import { newId } from '../../src/kit/ids.ts';
import { nextRun } from '../../src/actions/read/schedule.ts';
import { due, fire } from '../../src/actions/read/store/runs.ts';
import { scaled, type Figure } from '../figure.ts';
import { percentiles } from '../load.ts';
import { makeLedger } from '../postgres.ts';

const few = 1_000;
const many = scaled(1_000_000);
const dueAtOnce = 100;
const ticks = 30;
const objectsEach = 10;

const makeIntegration = `INSERT INTO integration (project_id, id, name, provider, latest_revision_id)
  VALUES ($1, gen_random_uuid(), 'crm', 'hubspot', gen_random_uuid())`;
const makeInstallations = `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
  SELECT $1, gen_random_uuid(), i.id, 'g' || n, gen_random_uuid(), gen_random_uuid(), 'bench'
  FROM integration i, generate_series(1, $2::int) n`;
const makeFeeds = `INSERT INTO read_feed (project_id, installation_id, object, object_name, schedule, next_at, started_at, watermark)
  SELECT $1, i.id, 'object' || n, 'Object' || n, '0 */3 * * *', svc_now() + interval '1 hour' + random() * interval '3 hours',
    svc_now(), svc_now()
  FROM installation i, generate_series(1, ${objectsEach}) n`;
/** Those that are next, wherever in the table they stand. */
const makeDue = `UPDATE read_feed SET next_at = svc_now() WHERE (project_id, installation_id, object) IN (
  SELECT project_id, installation_id, object FROM read_feed WHERE next_at < 'infinity' ORDER BY next_at LIMIT ${dueAtOnce})`;

interface Feeds {
  /** Milliseconds of the statements of one tick. */
  tick(): Promise<number>;
  tidy(): Promise<void>;
  close(): Promise<void>;
}

async function makeSchedules(count: number): Promise<Feeds> {
  const { database, close } = await makeLedger(4);
  const projectId = newId();
  await database.raw(makeIntegration, [projectId]);
  await database.raw(makeInstallations, [projectId, count / objectsEach]);
  await database.raw(makeFeeds, [projectId]);
  await database.raw('DELETE FROM read_stale');
  await database.raw('VACUUM ANALYZE read_feed, installation');
  return {
    async tick() {
      await database.raw(makeDue);
      const took = await beginDue(database);
      await database.raw('UPDATE read_feed SET run_id = NULL WHERE project_id = $1 AND run_id IS NOT NULL', [
        projectId,
      ]);
      return took;
    },
    async tidy() {
      for (const table of ['read_run', 'work'])
        await database.raw(`DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
      await database.raw('DELETE FROM wake WHERE project_id = $1', [projectId]);
      await database.raw('VACUUM read_feed, read_run, work, wake');
    },
    close,
  };
}

/** Finds what is due and begins a run of each, as the scheduler does; the time of its two statements. */
async function beginDue(database: Database): Promise<number> {
  const since = performance.now();
  const feeds = await due(database, dueAtOnce);
  const found = performance.now();
  const firings = feeds.map((feed) => {
    const next = nextRun(feed, feed.now);
    return { feed, id: newId(), tickAt: next?.tickAt, nextAt: next?.dueAt };
  });
  const reckoned = performance.now();
  const begun = (await fire(database, firings)).filter((one) => one.begun).length;
  if (begun !== dueAtOnce) throw new Error(`${begun} runs were begun, not ${dueAtOnce}`);
  return found - since + (performance.now() - reckoned);
}

export const schedules: Figure = {
  id: 'schedules',
  about: `database time to begin the ${dueAtOnce} reads that are due out of ${many} schedules, p50`,
  unit: 'ms',
  yardstick: `out of ${few}`,
  goal: { of: 'ratio', atMost: 2 },
  prepare: async () => {
    const short = await makeSchedules(few);
    const long = await makeSchedules(many);
    return {
      run: async () => {
        const [ofShort, ofLong]: [number[], number[]] = [[], []];
        for (let n = 0; n < ticks; n += 1) {
          ofLong.push(await long.tick());
          ofShort.push(await short.tick());
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

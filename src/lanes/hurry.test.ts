import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import type { Ground } from '../kit/ground.ts';
import { newId } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import { createWorker, defineKind, type End, type Marked, type Worker } from './index.ts';
import { hurry, hurryAll, hurryMore, recordEnds } from './store/hurry.ts';
import { claim, firstProject, type HeldLane } from './store/lanes.ts';
import { rescue, take } from './store/work.ts';

describe('lanes/hurry', () => {
  let test: TestDatabase;
  let projectId: string;
  let laneId: string;
  let worker: Worker | undefined;
  let done: string[] = [];
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw('CREATE TABLE changed (rows int)');
    await test.database.raw(`CREATE FUNCTION note_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO changed SELECT count(*) FROM changed_work; RETURN NULL; END $$`);
    await test.database
      .raw(`CREATE TRIGGER work_changed AFTER UPDATE ON work REFERENCING NEW TABLE AS changed_work
      FOR EACH STATEMENT EXECUTE FUNCTION note_changed()`);
  });
  beforeEach(() => {
    [projectId, laneId, done] = [newId(), newId(), []];
  });
  afterEach(async () => {
    await worker?.stop(1_000);
    worker = undefined;
    await asked('DELETE FROM work WHERE project_id = $1');
    await asked('DELETE FROM lane WHERE project_id = $1');
    await test.database.raw('TRUNCATE changed');
  });
  afterAll(() => test.drop());

  /** Its work is done once it is taken. */
  const thing = defineKind<Marked, End>({
    name: 'test thing',
    load: async (_db, marked) => [...marked],
    async run(item) {
      done.push(item.ref);
      return { end: { ...item, done: true, waitMs: 0, spent: true } };
    },
    rescued: 'again',
    unsent: (item, waitMs) => ({ ...item, done: false, waitMs, spent: false }),
    record: recordEnds,
    about: ({ seq }) => ({ seq }),
  });
  async function work(): Promise<void> {
    const ground = { database: test.database, log: createLog('silent') } as unknown as Ground;
    worker = createWorker(ground, { kinds: [thing], pollMs: 50 });
    await worker.start();
  }
  const asked = (text: string) => test.database.raw(text, [projectId]);
  /** They wait for one to `hours` hours. */
  async function wait(count: number, { lane = laneId, hours = 20, prio = 1 } = {}): Promise<void> {
    await test.database.raw(
      `INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline)
      SELECT $1, gen_random_uuid(), $2, 'test thing', $3, svc_now() + interval '1 hour' * (1 + ($4::int - 1) * random()), svc_now() + interval '90 days'
      FROM generate_series(1, $5::int)`,
      [projectId, lane, prio, hours, count],
    );
    await test.database.raw(
      "INSERT INTO lane (project_id, id, due_at) VALUES ($1, $2, 'infinity') ON CONFLICT DO NOTHING",
      [projectId, lane],
    );
  }
  const waits = async () => {
    const [row] = await asked(
      "SELECT count(*)::int AS n FROM work WHERE project_id = $1 AND kind <> 'hurry' AND due_at > svc_now()",
    );
    return row?.['n'];
  };
  const mostChanged = async () =>
    (await test.database.raw('SELECT max(rows) AS most FROM changed'))[0]?.['most'];
  async function claimOwn(): Promise<HeldLane> {
    const request = { afterProject: firstProject, perProject: 9, limit: 99, leaseMs: 30_000 };
    const claimed = await claim(test.database, { ...request, lease: randomUUID() });
    return claimed.find(({ id }) => id === laneId)!;
  }
  const takeHurry = async (lane: HeldLane, by = take) =>
    (await by(test.database, [{ ...lane, room: 5_000 }])).find(({ kind }) => kind === 'hurry')!;
  const allDone = (count: number) =>
    expect.poll(() => done.length, { timeout: 30_000, interval: 50 }).toBe(count);

  it('makes a portion due at once, and work in the lane goes on with the rest, a portion in a statement', async () => {
    await wait(4_500);
    await wait(30, { prio: 3 });
    await hurry(test.database, projectId, laneId);
    expect(await waits()).toBe(2_500);
    await work();
    await allDone(4_530);
    expect(new Set(done).size).toBe(4_530);
    await expect
      .poll(() => asked('SELECT kind FROM work WHERE project_id = $1'), { timeout: 10_000 })
      .toEqual([]);
    expect(await mostChanged()).toBe(2_030);
  }, 60_000);

  it('does so also where all wait until the same moment', async () => {
    await wait(4_500, { hours: 1 });
    await hurry(test.database, projectId, laneId);
    await work();
    await allDone(4_500);
    expect(await waits()).toBe(0);
  }, 60_000);

  it('leaves no work behind where there is no more', async () => {
    await wait(1_999);
    await hurry(test.database, projectId, laneId);
    expect([
      await waits(),
      await asked("SELECT 1 FROM work WHERE project_id = $1 AND kind = 'hurry'"),
    ]).toEqual([0, []]);
  });

  it('shares the portion of a statement among its lanes, and each of them goes on by itself', async () => {
    const other = newId();
    await wait(1_500);
    await wait(1_500, { lane: other });
    await hurryAll(test.database, projectId, [laneId, other]);
    expect([await waits(), await mostChanged()]).toEqual([1_000, 2_000]);
    await work();
    await allDone(3_000);
  }, 60_000);

  it('goes on where a node that is gone had committed', async () => {
    await wait(6_500);
    await hurry(test.database, projectId, laneId);
    expect(await hurryMore(test.database, await takeHurry(await claimOwn()))).toBe(true);
    expect(await waits()).toBe(2_500);
    await test.database.raw('UPDATE lane SET due_at = svc_now() WHERE id = $1', [laneId]);
    await work();
    await allDone(6_500);
  }, 60_000);

  it('makes nothing due for a lease that is over', async () => {
    await wait(4_500);
    await hurry(test.database, projectId, laneId);
    const before = await takeHurry(await claimOwn());
    await test.database.raw('UPDATE lane SET due_at = svc_now() WHERE id = $1', [laneId]);
    const now = await takeHurry(await claimOwn(), rescue);
    expect([await hurryMore(test.database, before), await waits()]).toEqual([false, 2_500]);
    expect([await hurryMore(test.database, now), await waits()]).toEqual([true, 500]);
  });

  it('ends once the rest is due by itself', async () => {
    await wait(2_500);
    await hurry(test.database, projectId, laneId);
    await asked(
      `UPDATE work SET due_at = least(due_at, svc_now()), deadline = CASE kind WHEN 'hurry' THEN svc_now() ELSE deadline END
      WHERE project_id = $1`,
    );
    await work();
    await allDone(2_500);
    await expect
      .poll(() => asked('SELECT kind FROM work WHERE project_id = $1'), { timeout: 10_000 })
      .toEqual([]);
  }, 60_000);

  it('makes due no second time what failed meanwhile and waits for longer than the rest', async () => {
    await wait(4_500);
    await hurry(test.database, projectId, laneId);
    const item = await takeHurry(await claimOwn());
    const [before] = await asked(
      "SELECT deadline::text AS place FROM work WHERE project_id = $1 AND kind = 'hurry'",
    );
    expect([await hurryMore(test.database, item), await waits()]).toEqual([true, 500]);
    await test.database.raw(
      `UPDATE work SET state = 0, lease = NULL, due_at = $2::timestamptz
      WHERE project_id = $1 AND kind <> 'hurry' AND state = 1`,
      [projectId, before?.['place']],
    );
    expect(await waits()).toBe(2_500);
    expect([await hurryMore(test.database, item), await waits()]).toEqual([false, 2_000]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { Ground } from '../kit/ground.ts';
import { createLog } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import {
  createWorker,
  defineKind,
  putBack,
  recordParts,
  type End,
  type Marked,
  type WorkContext,
  type Worker,
} from './index.ts';
import { loaderOf } from './jobs.ts';
import { shareStatements } from './shared-statements.ts';
import { hurry } from './store/hurry.ts';
import { claim, extend, firstProject, fold, giveBack } from './store/lanes.ts';
import { giveBackUnmarked, rescue, take } from './store/work.ts';

/** A work of pages that nobody in the product knows: each page is an end that is not done, and commits where it is. */
interface Reading extends Marked {
  page: number;
  pages: number;
}
interface PageEnd extends End {
  page: number;
}

const loadReadings = statement(
  'test_reading_load',
  `SELECT i.n::int AS n, r.page, r.pages FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, n) JOIN reading r ON r.id = i.id`,
);
const recordPages = statement(
  'test_reading_record',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::int[], $8::bigint[])
      WITH ORDINALITY AS i(project_id, seq, lease, done, wait_ms, spent, page, mark, n)),
  ${recordParts},
  moved AS (UPDATE reading r SET page = k.page FROM kept k WHERE r.id = k.ref)
  SELECT n FROM kept`,
);

const recordEnds = async (db: Queryable, ends: readonly PageEnd[]): Promise<boolean[]> => {
  const kept = await db.rows<{ n: string }>(recordPages, [
    ends.map((end) => end.projectId),
    ends.map(({ seq }) => seq),
    ends.map(({ lease }) => lease),
    ends.map(({ done }) => done),
    ends.map(({ waitMs }) => waitMs),
    ends.map(({ spent }) => spent),
    ends.map(({ page }) => page),
    ends.map(({ mark }) => mark),
  ]);
  return ends.map((_, at) => kept.some(({ n }) => Number(n) === at + 1));
};
const unended = (item: Marked): PageEnd => ({ ...item, done: false, waitMs: 0, spent: true, page: 1 });

const projectId = '0190a000-0000-7000-8000-000000000001';

describe('lanes/kinds', () => {
  let test: TestDatabase;
  const workers: Worker[] = [];
  let loads: number[] = [];
  let read: string[] = [];
  let told: { ref: string }[] = [];
  /** Before a page is read. */
  let hinder: (item: Reading, context: WorkContext) => Promise<void> = async () => undefined;

  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw(
      'CREATE TABLE reading (id uuid PRIMARY KEY, page int NOT NULL, pages int NOT NULL)',
    );
  });
  afterEach(async () => {
    hinder = async () => undefined;
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await test.database.raw('DELETE FROM work WHERE project_id = $1', [projectId]);
    [loads, read, told] = [[], [], []];
  });
  afterAll(() => test.drop());

  const reading = defineKind<Reading, PageEnd>({
    name: 'test reading',
    async load(db, marked) {
      loads.push(marked.length);
      const rows = await db.rows<{ n: number; page: number; pages: number }>(loadReadings, [
        marked.map(({ ref }) => ref),
      ]);
      return rows.flatMap(({ n, ...own }) => {
        const row = marked[n - 1];
        return row ? [{ ...row, ...own }] : [];
      });
    },
    async run(item, context) {
      await hinder(item, context);
      const page = item.page + 1;
      read.push(`${item.ref} ${page}`);
      return { end: { ...item, done: page === item.pages, waitMs: 0, spent: false, page } };
    },
    rescued: 'again',
    unsent: (item, waitMs) => ({ ...item, done: false, waitMs, spent: false }),
    record: recordEnds,
    about: ({ seq }) => ({ seq }),
  });

  async function work(): Promise<Worker> {
    const log = Object.assign(Object.create(createLog('silent')) as Ground['log'], {
      error: (about: { ref: string }) => void told.push(about),
    });
    const ground = { database: test.database, log } as unknown as Ground;
    const worker = createWorker(ground, { kinds: [reading], pollMs: 50 });
    workers.push(worker);
    await worker.start();
    return worker;
  }
  async function queue(
    kind: string,
    pages: number,
    laneId: string = randomUUID(),
    prio = 1,
  ): Promise<string> {
    const id = randomUUID();
    await test.database.raw('INSERT INTO reading VALUES ($1, 0, $2)', [id, pages]);
    await test.database.raw(
      `INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline)
      VALUES ($1, $2, $3, $4, $5, svc_now(), svc_now() + interval '1 hour')`,
      [projectId, id, laneId, kind, prio],
    );
    await test.database.raw('INSERT INTO wake (project_id, lane_id, due_at) VALUES ($1, $2, svc_now())', [
      projectId,
      laneId,
    ]);
    return id;
  }
  const rows = (id: string) =>
    test.database.raw(
      'SELECT r.page, w.state, w.attempt, w.due_at > svc_now() AS waits FROM reading r LEFT JOIN work w ON w.ref = r.id WHERE r.id = $1',
      [id],
    );
  const until = (what: () => unknown) => expect.poll(what, { timeout: 10_000, interval: 20 });

  it('commits a part with its checkpoint, and goes on until the work is done', async () => {
    const id = await queue('test reading', 5);
    await work();
    await until(() => rows(id)).toEqual([{ page: 5, state: null, attempt: null, waits: null }]);
    expect(read).toEqual([1, 2, 3, 4, 5].map((page) => `${id} ${page}`));
  });

  it('loads what it takes together with one statement, the more urgent first', async () => {
    const laneId = randomUUID();
    const later = await queue('test reading', 1, laneId, 3);
    const first = await queue('test reading', 1, laneId, 0);
    const second = await queue('test reading', 1, laneId, 2);
    await work();
    await until(() => read.length).toBe(3);
    expect(loads).toEqual([3]);
    expect(read).toEqual([first, second, later].map((id) => `${id} 1`));
  });

  const claimAll = async () => {
    await fold(test.database);
    const asked = { afterProject: firstProject, perProject: 9, limit: 99, leaseMs: 30_000 };
    return claim(test.database, { ...asked, lease: randomUUID() });
  };

  it('does not let a lane rest that was hurried after its holder saw what blocks it', async () => {
    await queue('test reading', 1);
    const [lane] = await claimAll();
    await hurry(test.database, projectId, lane!.id);
    await giveBack(test.database, [{ ...lane!, blockedMs: 86_400_000 }]);
    const [again] = await claimAll();
    expect(again).toMatchObject({ id: lane!.id });
    // Once: what its next holder sees counts.
    await giveBack(test.database, [{ ...again!, blockedMs: 86_400_000 }]);
    expect(await claimAll()).toEqual([]);
  });

  it('rests by no clock that was ahead when it was given back', async () => {
    await queue('test reading', 1);
    const shift = (interval: string) =>
      test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
    await shift('6 hours');
    const [lane] = await claimAll();
    await giveBack(test.database, [{ ...lane!, blockedMs: 0 }]);
    await shift('-6 hours');
    const id = await queue('test reading', 1, lane!.id);
    const [again] = await claimAll();
    expect(again).toMatchObject({ id: lane!.id });
    expect(await take(test.database, [{ ...again!, room: 9 }])).toContainEqual(
      expect.objectContaining({ ref: id }),
    );
    await test.database.raw('DELETE FROM work WHERE lane_id = $1', [lane!.id]);
    await giveBack(test.database, [{ ...again!, blockedMs: 0 }]);
  });

  it.each([
    ['recorded', async (of: Marked) => (await recordEnds(test.database, [unended(of)]))[0]],
    ['put back', (of: Marked) => putBack(test.database, of, 0, true)],
  ])(
    'refuses what is %s again of an attempt, where the next one began under the same lease',
    async (_, end) => {
      const id = await queue('test reading', 2);
      const [lane] = await claimAll();
      const takeOne = async () => (await take(test.database, [{ ...lane!, room: 1 }]))[0]!;
      const first = await takeOne();
      expect(await end(first)).toBe(true);
      const second = await takeOne();
      expect(second).toMatchObject({ ref: id, lease: first.lease });
      expect(await end(first)).toBe(false);
      expect(await rows(id)).toMatchObject([{ state: 1, attempt: 2 }]);
      expect(await end(second)).toBe(true);
      await test.database.raw('DELETE FROM work WHERE ref = $1', [id]);
      await giveBack(test.database, [{ ...lane!, blockedMs: 0 }]);
    },
  );

  it('unmarks what a take marked whose answer was lost while its commit was still to come', async () => {
    const id = await queue('test reading', 1);
    const [lane] = await claimAll();
    const given = { ...lane!, blockedMs: 0 };
    let isGiven: Promise<void> | undefined;
    await test.database.transaction(async (tx) => {
      expect(await take(tx, [{ ...lane!, room: 1 }])).toMatchObject([{ ref: id }]);
      isGiven = giveBackUnmarked(test.database, given, []);
      await until(() =>
        test.database.raw(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      ).toEqual([{ n: 1 }]);
    });
    await isGiven;
    const next = (await claimAll()).map((one) => Object.assign({ room: 1 }, one));
    expect(await rescue(test.database, next)).toEqual([]);
    expect(await take(test.database, next)).toMatchObject([{ ref: id, attempt: 1 }]);
    expect(await take(test.database, [{ ...lane!, room: 1 }])).toEqual([]);
    await test.database.raw('DELETE FROM work WHERE ref = $1', [id]);
    await giveBack(test.database, [{ ...next[0]!, blockedMs: 0 }]);
  });

  describe('a lane that its node claims again while it still works on it', () => {
    it('cuts off what it has under way there before it starts anything anew', async () => {
      const [id, other] = [await queue('test reading', 1), await queue('test reading', 1)];
      const begun: { ref: string; signal: AbortSignal }[] = [];
      const of = (ref: string) => begun.filter((one) => one.ref === ref);
      const wereCut: boolean[] = [];
      hinder = async ({ ref }, { signal }) => {
        wereCut.push(...of(ref).map((one) => one.signal.aborted));
        begun.push({ ref, signal });
        // The first ends once the next one has begun.
        while (of(ref).length < 2) await sleep(10);
      };
      const worker = await work();
      await until(() => begun.length).toBe(2);
      await test.database.raw("UPDATE clock SET shift = shift + '61 seconds'");
      worker.hint();
      await until(() => rows(id)).toMatchObject([{ page: 1, state: null }]);
      await until(() => rows(other)).toMatchObject([{ page: 1, state: null }]);
      expect(wereCut).toEqual([true, true]);
    });

    /** By the clock of the database, all leases are over. */
    const passTime = () => test.database.raw("UPDATE clock SET shift = shift + '31 seconds'");
    const sharedOf = () => {
      const log = createLog('silent');
      return shareStatements(
        test.database,
        loaderOf({ database: test.database, log, onEnded: () => undefined }, [reading]),
        undefined,
      );
    };

    it('starts work for the new lease alone, whoever asks with it', async () => {
      const id = await queue('test reading', 1);
      const [before] = await claimAll();
      await passTime();
      const [now] = await claimAll();
      expect(before).toMatchObject({ id: now?.id });
      const shared = sharedOf();
      const others = await Promise.all(
        [{ ...now!, id: randomUUID() }, before!, now!, before!].map((lane) =>
          shared.take({ ...lane, room: 5 }),
        ),
      );
      expect(others.map((jobs) => jobs.map(({ marked }) => marked.ref))).toEqual([[], [], [id], []]);
      expect(await extend(test.database, [before!, now!], 30_000)).toEqual(new Set([now]));
    });

    it('starts it for its project alone, where another has a lane of the same id', async () => {
      const laneId = randomUUID();
      const id = await queue('test reading', 1, laneId);
      const elsewhere = { projectId: '0190a000-0000-7000-8000-000000000002', id: laneId };
      await test.database.raw('INSERT INTO lane (project_id, id, due_at) VALUES ($1, $2, svc_now())', [
        elsewhere.projectId,
        laneId,
      ]);
      const lanes = (await claimAll()).toSorted((a, b) => (a.projectId < b.projectId ? -1 : 1));
      expect(lanes.map((lane) => lane.id)).toEqual([laneId, laneId]);
      const shared = sharedOf();
      const first = { ...lanes[0]!, id: randomUUID() };
      const taken = await Promise.all([first, ...lanes].map((lane) => shared.take({ ...lane, room: 5 })));
      expect(taken.map((jobs) => jobs.map(({ marked }) => marked.ref))).toEqual([[], [id], []]);
      await test.database.raw('DELETE FROM lane WHERE project_id = $1', [elsewhere.projectId]);
    });
  });

  it('starts again from its checkpoint what a node that is gone had started', async () => {
    const id = await queue('test reading', 3);
    hinder = ({ page }) => (page === 1 ? new Promise(() => undefined) : Promise.resolve());
    const gone = await work();
    await until(() => rows(id)).toMatchObject([{ page: 1, state: 1 }]);
    await gone.stop(0);
    hinder = async () => undefined;
    await work();
    await until(() => rows(id)).toEqual([{ page: 3, state: null, attempt: null, waits: null }]);
    expect(read).toEqual([1, 2, 3].map((page) => `${id} ${page}`));
  }, 20_000);

  it('tells of what its kind did not find, and puts it back without an attempt; what was started stays as it is', async () => {
    const laneId = randomUUID();
    const missed = await queue('test reading', 1, laneId);
    const started = await queue('test reading', 1);
    await test.database.raw(
      'UPDATE work SET state = 1, attempt = 1, lease = gen_random_uuid() WHERE ref = $1',
      [started],
    );
    await test.database.raw('DELETE FROM reading WHERE id = ANY ($1::uuid[])', [[missed, started]]);
    const found = await queue('test reading', 1, laneId);
    await work();
    await until(() => rows(found)).toMatchObject([{ page: 1, state: null }]);
    const left = (id: string) =>
      test.database.raw('SELECT state, attempt, due_at > svc_now() AS waits FROM work WHERE ref = $1', [id]);
    await until(() => left(missed)).toEqual([{ state: 0, attempt: 0, waits: true }]);
    await until(() => told.map(({ ref }) => ref).toSorted()).toEqual([missed, started].toSorted());
    await sleep(500);
    expect(told).toHaveLength(2);
    expect(await left(started)).toMatchObject([{ state: 1, attempt: 1 }]);
    expect(read).toEqual([`${found} 1`]);
  });

  it('leaves what it does not know to a newer node: what waits for a while, what was started as it is', async () => {
    const laneId = randomUUID();
    const strange = await queue('newer', 1, laneId);
    const started = await queue('newer', 1);
    await test.database.raw(
      'UPDATE work SET state = 1, attempt = 1, lease = gen_random_uuid() WHERE ref = $1',
      [started],
    );
    const known = await queue('test reading', 1, laneId);
    await work();
    await until(() => rows(known)).toMatchObject([{ page: 1, state: null }]);
    await until(() => rows(strange)).toEqual([{ page: 0, state: 0, attempt: 0, waits: true }]);
    await sleep(500);
    expect(await rows(started)).toMatchObject([{ page: 0, state: 1, attempt: 1 }]);
    expect(read).toEqual([`${known} 1`]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import type { Database } from '../../../kit/db/database.ts';
import type { Statement } from '../../../kit/db/statement.ts';
import { wholeProject } from '../../../events/index.ts';
import {
  clearLedger,
  count,
  groundOf,
  intake,
  projectId,
  until,
} from '../../../operations/harness.fixture.ts';
import { createOperations } from '../../../operations/index.ts';
import { claim, firstProject, fold, giveBack, pause, type HeldLane } from '../../../lanes/store/lanes.ts';
import { createGatherer } from './accept.ts';
import { batchKeyOf, placesOf, requestsOf, type AutoBatchIntake, type Entry, type Place } from './places.ts';
import { insert, openBatches, seal, sealSome, take, tidy } from './store.ts';

describe('actions/write/auto-batch/store', () => {
  let test: TestDatabase;
  const laneId = randomUUID();
  const installationId = randomUUID();

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());
  beforeEach(() => clearLedger(test.database));

  const single = (given: Partial<AutoBatchIntake> = {}): AutoBatchIntake => {
    const { records: _, ...common } = intake({ laneId, installationId });
    return { ...common, record: {}, orderKey: null, maxDelaySeconds: 600, ...given };
  };
  const entry = (given: Partial<AutoBatchIntake> = {}): Entry => {
    const one = single(given);
    return { ...one, id: randomUUID(), batchKey: batchKeyOf(one), payload: JSON.stringify(one.record) };
  };
  const entries = (wanted: number, given?: Partial<AutoBatchIntake>): Entry[] =>
    Array.from({ length: wanted }, () => entry(given));
  /** Takes places without filling them, as a node that dies then. */
  async function takeFor(group: readonly Entry[], missed = false): Promise<Place[]> {
    const requests = requestsOf(group, missed);
    return placesOf(requests, await take(test.database, requests));
  }
  const fillOf = async (places: readonly Place[]): Promise<number> =>
    (await insert(test.database, places)).filter((one) => one !== undefined).length;
  const gather = async (given: Partial<AutoBatchIntake> = {}): Promise<string> =>
    (await createGatherer(test.database).accept(single(given))).operationId;
  const shift = (interval: string): Promise<unknown> =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
  const claimLane = async (): Promise<HeldLane | undefined> => {
    await fold(test.database);
    const request = { afterProject: firstProject, perProject: 20, limit: 20, leaseMs: 60_000 };
    return (await claim(test.database, { ...request, lease: randomUUID() }, openBatches.statements))[0];
  };
  /** Claims the lane, which must be due, seals in it and gives it back. */
  async function sealNow(): Promise<number> {
    const lane = await claimLane();
    if (!lane) throw new Error('the lane is not due');
    const sealed = await seal(test.database, [lane]);
    await giveBack(test.database, [{ ...lane, blockedMs: 0 }], openBatches.statements);
    return sealed.length;
  }
  const totals = async (): Promise<number[]> =>
    (await test.database.raw('SELECT total FROM operation ORDER BY total')).map((row) =>
      Number(row['total']),
    );

  it('closes a batch whose places are all handed out within seconds, although a taker died with its place', async () => {
    const [dead, ...others] = await takeFor(entries(100));
    expect(dead?.slot).toBe(0);
    expect(await fillOf(others)).toBe(99);
    expect(await sealNow()).toBe(0);
    await shift('3 seconds');
    expect(await sealNow()).toBe(1);
    expect(await totals()).toEqual([99]);
  });

  it('takes one that comes too late for its batch into another', async () => {
    const late = await takeFor(entries(1));
    const [missed] = late;
    expect(await fillOf(await takeFor(entries(5)))).toBe(5);
    await shift('11 seconds');
    expect(await sealNow()).toBe(1);
    expect(await fillOf(late)).toBe(0);
    const again = await takeFor(
      late.map((place) => place.entry),
      true,
    );
    expect(again[0]?.batchId).not.toBe(missed?.batchId);
    expect(await fillOf(again)).toBe(1);
  });

  it('takes no change of a record while one of before stands open under another key, whatever was lost of closing that', async () => {
    const orderKey = 'contacts/1';
    const other = { request: { type: 'update', headers: ['other'] } };
    // Another batch that is open already.
    await gather(other);
    const before = await gather({ orderKey });
    let isLost = true;
    const rows: Database['rows'] = async (statement, values) => {
      // As a crash of the database that takes back what was not flushed.
      if (statement.name !== 'ab_close_others' || !isLost) return test.database.rows(statement, values);
      isLost = false;
      return [];
    };
    const { operationId } = await createGatherer({ ...test.database, rows }).accept(
      single({ ...other, orderKey }),
    );
    expect(isLost).toBe(false);
    const work = await test.database.raw('SELECT ref FROM work ORDER BY seq');
    expect(work.map(({ ref }) => ref)).toContain(before);
    expect(work.map(({ ref }) => ref)).not.toContain(operationId);
  });

  it.each([
    ['left', () => sealNow()],
    [
      'was refused',
      (batch: string) =>
        test.database.raw("SELECT svc_ab_refuse(svc_now(), $1, $2, 'no')", [projectId, batch]),
    ],
  ])('comes behind what was accepted before it %s, in a list from the oldest on', async (_how, end) => {
    const operations = createOperations(groundOf(test.database));
    const batch = await gather({ maxDelaySeconds: 60 });
    await shift('30 seconds');
    const { operationId } = await operations.acceptQueued(intake({ laneId, installationId }));
    await shift('31 seconds');
    await end(batch);
    await test.database.raw("UPDATE operation SET status = 'failure'");
    const query = { installationId, pageSize: 10 };
    const { results } = await operations.listOldest(wholeProject(projectId), query);
    expect(results.map(({ id }) => id)).toEqual([operationId, batch]);
    await operations.close();
  });

  it('leaves after what left with it and was opened before it, by the clock', async () => {
    const headers = [['one'], ['two'], ['three']];
    const opened: string[] = [];
    for (const one of headers) opened.push(await gather({ request: { headers: one }, maxDelaySeconds: 60 }));
    await shift('61 seconds');
    expect(await sealNow()).toBe(3);
    const left = await test.database.raw(
      'SELECT array_agg(id) AS ids FROM operation WHERE left_at IS NOT NULL GROUP BY left_at ORDER BY left_at',
    );
    expect(left.map(({ ids }) => ids)).toEqual(opened.map((id) => [id]));
  });

  it('is found among what failed when it could not become work', async () => {
    const batch = await gather();
    await test.database.raw("SELECT svc_ab_refuse(svc_now(), $1, $2, 'no')", [projectId, batch]);
    const operations = createOperations(groundOf(test.database));
    for (const query of [{ status: 'failure' as const }, { errorCategory: 'internal' as const }]) {
      const { results } = await operations.listAll(wholeProject(projectId), { ...query, pageSize: 10 });
      expect(results.map(({ id }) => id)).toEqual([batch]);
    }
    await operations.close();
  });

  it('does not wait for the delay that a record asked for which never came', async () => {
    await takeFor([entry({ maxDelaySeconds: 86_400 })]);
    const id = await gather({ maxDelaySeconds: 60 });
    await shift('11 seconds');
    expect(await sealNow()).toBe(1);
    expect(await count(test.database, 'work WHERE ref = $1', [id])).toBe(1);
  });

  it('removes a batch that nobody came into, with its operation', async () => {
    await takeFor(entries(30));
    expect(await count(test.database, 'operation')).toBe(1);
    await shift('11 seconds');
    expect(await sealNow()).toBe(1);
    expect(await count(test.database, 'operation')).toBe(0);
    expect(await count(test.database, 'work')).toBe(0);
  });

  it('seals the batches of a key in the order in which they were opened, and none that is still being filled', async () => {
    const firsts = await takeFor(entries(100));
    const [last, ...others] = firsts.toReversed();
    await fillOf(others);
    const seconds = await takeFor(entries(100));
    await fillOf(seconds);
    // The second one is full; the first has a place whose taker is on its way.
    expect(await sealNow()).toBe(0);
    expect(last && (await fillOf([last]))).toBe(1);
    expect(await sealNow()).toBe(2);
    const rows = await test.database.raw(
      'SELECT w.ref, o.total FROM work w JOIN operation o ON o.id = w.ref WHERE w.project_id = $1 ORDER BY w.seq',
      [projectId],
    );
    expect(rows).toEqual([
      { ref: firsts[0]?.batchId, total: 100 },
      { ref: seconds[0]?.batchId, total: 100 },
    ]);
  });

  it('lets a full batch wait for an earlier one no longer than its places may stay empty', async () => {
    const [, ...others] = await takeFor(entries(100));
    await fillOf(others);
    await fillOf(await takeFor(entries(100)));
    expect(await sealNow()).toBe(0);
    await shift('3 seconds');
    expect(await sealNow()).toBe(2);
    expect(await totals()).toEqual([99, 100]);
  });

  it('seals only in lanes that are held, and not in a paused one', async () => {
    await gather();
    await shift('11 minutes');
    const lane = await claimLane();
    if (!lane) throw new Error('the lane is not due');
    expect(await seal(test.database, [{ ...lane, lease: randomUUID() }])).toEqual([]);
    await pause(test.database, projectId, laneId, true);
    expect(await seal(test.database, [lane])).toEqual([]);
    await pause(test.database, projectId, laneId, false);
    await shift('2 minutes');
    expect(await seal(test.database, [lane])).toEqual([]);
    expect(await count(test.database, 'ab_batch')).toBe(1);
  });

  it('gives a lane back until its next batch leaves, also a throttled one', async () => {
    await gather();
    await shift('11 minutes');
    const lane = await claimLane();
    if (!lane) throw new Error('the lane is not due');
    await seal(test.database, [lane]);
    await gather({ maxDelaySeconds: 300 });
    await fold(test.database);
    await giveBack(test.database, [{ ...lane, blockedMs: 3_600_000 }], openBatches.statements);
    await shift('4 minutes');
    // At most a minute late for the throttled lane.
    await shift('2 minutes');
    expect(await sealNow()).toBe(1);
  });

  it('finds a batch whose wake-up was lost', async () => {
    await gather();
    await test.database.raw('DELETE FROM wake WHERE project_id = $1', [projectId]);
    await shift('12 minutes');
    await tidy(test.database);
    expect(await sealNow()).toBe(1);
  });

  it('forgets keys that are not used any more, and opens a batch for one that comes back', async () => {
    const first = await gather();
    await shift('11 minutes');
    await sealNow();
    await shift('2 hours');
    await tidy(test.database);
    expect(await count(test.database, 'ab_head')).toBe(0);
    expect(await gather()).not.toBe(first);
  });

  /** Runs the named statement and loses its answer, once. */
  function losing(name: string): { database: Database; lost: () => boolean } {
    let lost = false;
    const rows = async <Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]> => {
      const found = await test.database.rows<Row>(statement, values);
      if (statement.name !== name || lost) return found;
      lost = true;
      throw new Error('Connection terminated unexpectedly');
    };
    return { database: { ...test.database, rows }, lost: () => lost };
  }

  it.each(['ab_take', 'ab_insert'])(
    'puts each record into one batch, once, when the answer of %s is lost',
    async (name) => {
      const { database, lost } = losing(name);
      const gatherer = createGatherer(database);
      const key = { principal: 'p', key: randomUUID(), hash: Buffer.from('h') };
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          gatherer.accept(single({ record: { n }, ...(n === 3 ? { key } : {}) })),
        ),
      );
      expect(lost()).toBe(true);
      expect(all.filter(({ replayed }) => replayed)).toEqual([]);
      const rows = await test.database.raw("SELECT operation_id, payload->>'n' AS n FROM record");
      expect(rows).toHaveLength(40);
      for (const row of rows) expect(all[Number(row['n'])]?.operationId).toBe(row['operation_id']);
      expect(await count(test.database, 'idempotency')).toBe(1);
      await test.database.raw('DELETE FROM idempotency WHERE project_id = $1', [projectId]);
    },
  );

  it('counts what was committed while the seal waited for it', async () => {
    const places = await takeFor(entries(3));
    expect(await fillOf(places.slice(0, 1))).toBe(1);
    await shift('11 minutes');
    const lane = await claimLane();
    if (!lane) throw new Error('the lane is not due');
    let sealing: Promise<string[]> = Promise.resolve([]);
    await test.database.transaction(async (tx) => {
      await insert({ ...tx, url: test.url }, places.slice(1));
      sealing = seal(test.database, [lane]);
      await until('the seal waits', async () => {
        const [row] = await test.database.raw(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return row?.['n'] === 1;
      });
    });
    expect(await sealing).toHaveLength(1);
    expect(await totals()).toEqual([3]);
  });

  it('turns every open batch into work after a restore, and leaves the ballast of the planner', async () => {
    const batches = async (where: string): Promise<number> =>
      (await test.database.raw(`SELECT FROM ab_batch WHERE project_id ${where} '${firstProject}'`)).length;
    const ballast = await batches('=');
    expect(ballast).toBeGreaterThan(0);
    await gather();
    expect(await sealSome(test.database)).toBe(false);
    expect([await batches('<>'), await batches('=')]).toEqual([0, ballast]);
  });

  it('hands out places to several at once without a double and without a gap', async () => {
    const groups = await Promise.all(Array.from({ length: 20 }, () => takeFor(entries(17))));
    const slots = Map.groupBy(groups.flat(), (place) => place.batchId);
    const sizes = [...slots.values()].map((all) => new Set(all.map((place) => place.slot)).size);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([40, 100, 100, 100]);
    expect([...slots.values()].map((all) => Math.max(...all.map((place) => place.slot)))).toEqual(
      [...slots.values()].map((all) => all.length - 1),
    );
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wholeProject } from '../../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { openDatabase, type Database } from '../../../kit/db/database.ts';
import { applied, createWorker, failed, handlerOf, type Worker } from '../harness.fixture.ts';
import {
  clearLedger,
  count,
  groundOf,
  intake,
  projectId,
  until,
} from '../../../operations/harness.fixture.ts';
import { type Operations, type WorkItem, createOperations } from '../../../operations/index.ts';
import type { ItemResult } from '../send/sender.ts';
import { createAutoBatches, type AutoBatches } from './auto-batches.ts';
import type { AutoBatchIntake } from './places.ts';
import { openBatches } from './store.ts';

/** Longer than the clock is moved: these tests are not about lost leases. */
const leaseMs = 48 * 3_600_000;

interface Node {
  database: Database;
  operations: Operations;
  autoBatches: AutoBatches;
  worker: Worker;
}

describe('actions/write/auto-batch/auto-batch', () => {
  let test: TestDatabase;
  let nodes: Node[] = [];
  let done: WorkItem[] = [];
  let answer: (item: WorkItem) => ItemResult | Promise<ItemResult> = applied;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    await clearLedger(test.database);
    done = [];
    answer = applied;
  });
  afterEach(async () => {
    for (const node of nodes) {
      await node.worker.stop(1_000);
      await node.autoBatches.close();
      await node.operations.close();
      await node.database.close();
    }
    nodes = [];
  });

  async function startNodes(wanted: number): Promise<Node[]> {
    for (let n = 0; n < wanted; n++) {
      const database = openDatabase({ url: test.url, poolSize: 6, applicationName: `svc test node ${n}` });
      const ground = groundOf(database);
      const operations = createOperations(ground);
      const worker = createWorker(ground, {
        sender: handlerOf((item) => {
          done.push(item);
          return answer(item);
        }),
        gathers: openBatches,
        leaseMs,
        pollMs: 100,
        retryPolicy: { baseMs: 20, capMs: 50, random: () => 0.99 },
      });
      operations.onQueued((lane) => worker.hint(lane));
      await worker.start();
      nodes.push({ database, operations, autoBatches: createAutoBatches(ground, operations), worker });
    }
    return nodes;
  }

  const shift = (interval: string): Promise<unknown> =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
  const single = (given: Partial<AutoBatchIntake> = {}): AutoBatchIntake => {
    const { records: _, ...common } = intake();
    return { ...common, record: { fields: {} }, orderKey: null, maxDelaySeconds: 60, ...given };
  };
  /** One key: the same lane, installation, object and request. */
  const oneKey = (): Partial<AutoBatchIntake> => ({ laneId: randomUUID(), installationId: randomUUID() });
  const numbers = (item: WorkItem): number[] => item.records.map(({ payload }) => Number(payload['n']));
  const accept = async (node: Node | undefined, given: Partial<AutoBatchIntake>): Promise<string> =>
    (await node!.autoBatches.accept(single(given))).operationId;
  const ended = (ids: Iterable<string>): Promise<void> => {
    const left = new Set(ids);
    return until('the operations end', async () => {
      for (const id of left) {
        const { status } = await nodes[0]!.operations.get(wholeProject(projectId), id);
        if (status === 'in_progress') return false;
        left.delete(id);
      }
      return true;
    });
  };

  it('makes one batch of 100 requests spread over two nodes, and sends it at once', async () => {
    const [a, b] = await startNodes(2);
    const key = oneKey();
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, n) => accept(n % 2 === 0 ? a : b, { ...key, record: { n } })),
    );
    expect(new Set(ids).size).toBe(1);
    await ended(ids);
    expect(done).toHaveLength(1);
    expect(numbers(done[0]!).toSorted((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    const operation = await a!.operations.get(wholeProject(projectId), ids[0]!);
    expect(operation).toMatchObject({
      status: 'success',
      result: '[contacts] 100 records created.',
      counts: { total: 100, succeeded: 100, failed: 0, unknown: 0 },
    });
  });

  it('never puts more than 100 records into a batch, and none into two, whatever arrives together', async () => {
    const [a, b] = await startNodes(2);
    const key = oneKey();
    const ids = await Promise.all(
      Array.from({ length: 1_050 }, (_, n) => accept(n % 2 === 0 ? a : b, { ...key, record: { n } })),
    );
    await shift('2 minutes');
    await ended(ids);
    const sizes = done.map((item) => item.records.length);
    expect(sizes.toSorted((x, y) => x - y)).toEqual([50, ...Array.from({ length: 10 }, () => 100)]);
    const all = done.flatMap(numbers).toSorted((x, y) => x - y);
    expect(all).toEqual(Array.from({ length: 1_050 }, (_, n) => n));
    // Each caller was told the batch that its record left with.
    for (const item of done) for (const n of numbers(item)) expect(ids[n]).toBe(item.operationId);
    expect(await count(test.database, 'ab_batch')).toBe(0);
  });

  it('leaves at the deadline of its first record, which a later one with another delay does not move', async () => {
    const [node] = await startNodes(1);
    const [short, long] = [oneKey(), oneKey()];
    const first = await accept(node, { ...short, maxDelaySeconds: 300 });
    const other = await accept(node, { ...long, maxDelaySeconds: 3_600 });
    await shift('1 minute');
    expect(await accept(node, { ...short, maxDelaySeconds: 86_400 })).toBe(first);
    expect(await accept(node, { ...long, maxDelaySeconds: 60 })).toBe(other);
    await shift('3 minutes 30 seconds');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(done).toEqual([]);
    expect(await node!.operations.get(wholeProject(projectId), first)).toMatchObject({
      status: 'in_progress',
      counts: { succeeded: 0 },
    });
    await shift('31 seconds');
    await ended([first]);
    expect(done.map((item) => [item.operationId, item.records.length])).toEqual([[first, 2]]);
    await shift('55 minutes 1 second');
    await ended([other]);
    expect(done[1]).toMatchObject({ operationId: other });
    expect(done[1]!.records).toHaveLength(2);
  });

  it('keeps apart what differs in installation, object, type, connection or forwarded headers', async () => {
    const [node] = await startNodes(1);
    const key = { ...oneKey(), resource: 'contacts', request: { type: 'create', headers: [] as unknown[] } };
    const variants: Partial<AutoBatchIntake>[] = [
      key,
      { ...key, installationId: randomUUID() },
      { ...key, laneId: randomUUID() },
      { ...key, resource: 'companies' },
      { ...key, request: { type: 'update', headers: [] } },
      { ...key, request: { type: 'create', headers: [{ key: 'x-a', value: '1' }] } },
    ];
    const ids = await Promise.all(variants.flatMap((one) => [accept(node, one), accept(node, one)]));
    expect(new Set(ids).size).toBe(variants.length);
    for (let n = 0; n < variants.length; n++) expect(ids[2 * n]).toBe(ids[2 * n + 1]);
  });

  it('keeps the order of acceptance within a batch', async () => {
    const nodes2 = await startNodes(2);
    const key = oneKey();
    let id = '';
    for (let n = 0; n < 30; n++) id = await accept(nodes2[n % 2], { ...key, record: { n } });
    await shift('61 seconds');
    await ended([id]);
    expect(numbers(done[0]!)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });

  it('puts what arrives around the deadline into the old batch or a new one, never both and never neither', async () => {
    const [a, b] = await startNodes(2);
    const ids = new Map<number, string>();
    const key = oneKey();
    let n = 0;
    const over = new AbortController();
    const callers = Array.from({ length: 8 }, async (_, at) => {
      while (!over.signal.aborted) {
        const mine = n++;
        ids.set(mine, await accept(at % 2 === 0 ? a : b, { ...key, record: { n: mine } }));
      }
    });
    for (let turn = 0; turn < 12; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      // Both ways: a batch that was sealed stays so when the clock is set back.
      await shift(turn % 4 === 3 ? '-61 seconds' : '61 seconds');
    }
    over.abort();
    await Promise.all(callers);
    await shift('10 minutes');
    await ended(ids.values());
    const all = done.flatMap((item) => numbers(item).map((one) => [one, item.operationId] as const));
    expect(all).toHaveLength(ids.size);
    expect(new Map(all)).toEqual(new Map([...ids].toSorted(([x], [y]) => x - y)));
    expect(Math.max(...done.map((item) => item.records.length))).toBeLessThanOrEqual(100);
    expect(await count(test.database, 'ab_batch')).toBe(0);
  });

  it('sends a record again that a later batch concerns only after the earlier batch ended', async () => {
    const [node] = await startNodes(1);
    const key = { ...oneKey(), request: { type: 'update' }, orderKey: 'contact 1' };
    let attempts = 0;
    answer = (item) => (numbers(item).includes(0) && ++attempts < 4 ? failed(item, true) : applied(item));
    const first = await accept(node, { ...key, record: { n: 0 } });
    await shift('61 seconds');
    const second = await accept(node, { ...key, record: { n: 1 } });
    await shift('61 seconds');
    await ended([first, second]);
    expect(done.map(numbers)).toEqual([[0], [0], [0], [0], [1]]);
    expect(await count(test.database, 'turn')).toBe(0);
  });

  it('sends the changes of a record in the order of acceptance, also through batches of other headers', async () => {
    const [a, b] = await startNodes(2);
    const common = { ...oneKey(), request: { type: 'update' } };
    const ofOther = { ...common, request: { type: 'update', headers: 'others' } };
    const x = { orderKey: 'contact x' };
    const y = { orderKey: 'contact y' };
    const ids = [
      await accept(a, { ...common, ...x, maxDelaySeconds: 600, record: { n: 1 } }),
      await accept(b, { ...ofOther, ...y, record: { n: 2 } }),
      await accept(a, { ...ofOther, ...x, record: { n: 3 } }),
      await accept(b, { ...common, ...y, maxDelaySeconds: 600, record: { n: 4 } }),
    ];
    // Those that were closed do not wait for their time: the last one alone has not come.
    await ended(ids.slice(0, 3));
    expect(done.map(numbers)).toEqual([[1], [2, 3]]);
    await shift('601 seconds');
    await ended(ids);
    expect(done.map(numbers)).toEqual([[1], [2, 3], [4]]);
    expect(await count(test.database, 'ab_turn')).toBe(0);
  });

  it.each(['22003', '23514', '54000'])(
    'ends a batch that cannot become work (%s), and lets the others of its connection leave',
    async (state) => {
      await test.database.raw(`
      CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF (SELECT count(*) FROM record r WHERE r.operation_id = NEW.ref AND r.payload->>'n' = '7') > 0
          THEN RAISE 'no room' USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER no_room BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION no_room()`);
      const [node] = await startNodes(1);
      const key = oneKey();
      const bad = [
        await accept(node, { ...key, record: { n: 6 }, orderKey: 'contact 6' }),
        await accept(node, { ...key, record: { n: 7 } }),
      ];
      const good = await accept(node, { ...key, request: { type: 'update' }, record: { n: 8 } });
      await shift('61 seconds');
      await ended([...bad, good]);
      await test.database.raw('DROP FUNCTION no_room CASCADE');
      expect(done.map(numbers)).toEqual([[8]]);
      expect(await node!.operations.get(wholeProject(projectId), bad[0]!)).toMatchObject({
        status: 'failure',
        counts: { total: 2, failed: 2 },
        result: expect.stringContaining('no room') as string,
      });
      const { results } = await node!.operations.records(wholeProject(projectId), bad[0]!, { pageSize: 10 });
      expect(results).toMatchObject([{ success: false }, { success: false }]);
      expect(await count(test.database, 'ab_turn')).toBe(0);
    },
  );

  it('lets a batch that meets an error of another kind hold up neither what is queued nor other lanes', async () => {
    await test.database.raw(`
      CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF (SELECT count(*) FROM record r WHERE r.operation_id = NEW.ref AND r.payload->>'n' = '7') > 0
          THEN RAISE 'broken' USING ERRCODE = 'XX001'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER broken BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION broken()`);
    const [node] = await startNodes(1);
    const key = oneKey();
    const waits = await accept(node, { ...key, record: { n: 7 } });
    const others = await Promise.all([1, 2, 3].map((n) => accept(node, { ...oneKey(), record: { n } })));
    await shift('61 seconds');
    await ended(others);
    const queued: string[] = [];
    for (let n = 0; n < 5; n += 1)
      queued.push((await node!.operations.acceptQueued(intake({ laneId: key.laneId! }))).operationId);
    await ended(queued);
    await test.database.raw('DROP FUNCTION broken CASCADE');
    await ended([waits]);
    expect(done.map(numbers)).toContainEqual([7]);
  });

  it('gives every record its own outcome: one that fails takes none of its 99 neighbours with it', async () => {
    const [node] = await startNodes(1);
    const key = oneKey();
    answer = (item) => ({
      kind: 'outcomes',
      outcomes: item.records.map(({ payload }) =>
        payload['n'] === 41
          ? { kind: 'notApplied', failure: { category: 'validation', retryable: false, message: 'no' } }
          : { kind: 'applied', recordId: `r${String(payload['n'])}` },
      ),
    });
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, n) => accept(node, { ...key, record: { n, reference: `ref ${n}` } })),
    );
    await ended(ids);
    const operation = await node!.operations.get(wholeProject(projectId), ids[0]!);
    expect(operation).toMatchObject({ status: 'success', counts: { total: 100, succeeded: 99, failed: 1 } });
    const { results } = await node!.operations.records(wholeProject(projectId), ids[0]!, { pageSize: 100 });
    expect(results.filter(({ success }) => !success)).toMatchObject([
      { reference: 'ref 41', errors: [{ message: 'no' }] },
    ]);
    expect(results.filter(({ success }) => success)).toHaveLength(99);
  });

  it.each([
    ['cannot hold', { principal: 'p', key: 'a', hash: Buffer.from('not 32 bytes'), forever: 'x' as never }],
    [
      'has no room for',
      { principal: randomBytes(6_000).toString('base64'), key: 'a', hash: Buffer.alloc(32) },
    ],
  ])('refuses a record that the database %s, and takes its neighbours', async (_what, bad) => {
    const [node] = await startNodes(1);
    const key = oneKey();
    const settled = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        accept(node, { ...key, ...(n === 7 ? { key: bad } : {}), record: { n } }),
      ),
    );
    expect(settled.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, n) => (n === 7 ? 'rejected' : 'fulfilled')),
    );
    await shift('61 seconds');
    await until('the batch left', () => done.length === 1);
    expect(numbers(done[0]!)).toHaveLength(19);
  });

  it('tries again until the deadline that the first record set, counted from when the batch left', async () => {
    const [node] = await startNodes(1);
    const key = oneKey();
    answer = (item) => failed(item, true, 600_000);
    const id = await accept(node, { ...key, maxDelaySeconds: 600, deadlineSeconds: 7_200 });
    await accept(node, { ...key, deadlineSeconds: 3_600 });
    await shift('601 seconds');
    await until('the first attempt', () => done.length === 1);
    expect(done[0]!.remainingMs).toBeGreaterThan(7_190_000);
    expect(done[0]!.remainingMs).toBeLessThanOrEqual(7_200_000);
    await until('it waits', async () => (await count(test.database, 'work WHERE state = 0')) === 1);
    await shift('2 hours 1 minute');
    await ended([id]);
    expect(await node!.operations.get(wholeProject(projectId), id)).toMatchObject({
      status: 'failure',
      counts: { failed: 2 },
    });
  });
});

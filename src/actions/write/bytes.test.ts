import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { sleep } from '../../kit/retry.ts';
import { createBytes } from '../../lanes/bytes.ts';
import { type Node, applied, createNode, createWorker, failed, type Worker } from './harness.fixture.ts';
import type { Database } from '../../kit/db/database.ts';
import { createAutoBatches } from './auto-batch/auto-batches.ts';
import { clearLedger, count, groundOf, intake, until } from '../../operations/harness.fixture.ts';
import type { WorkItem } from '../../operations/index.ts';

const mebibyte = 1024 * 1024;
const never = new AbortController().signal;

describe('write/bytes', () => {
  let test: TestDatabase;
  let operations: Node;
  const workers: Worker[] = [];

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
    operations = createNode(groundOf(test.database));
    operations.onQueued((lane) => workers.forEach((worker) => worker.hint(lane)));
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await clearLedger(test.database);
  });
  afterAll(async () => {
    await operations.close();
    await test.drop();
  });

  /** What handlers hold at once, at the most. */
  let held = 0;
  let most = 0;
  async function hold<Result>(item: WorkItem, result: (item: WorkItem) => Result): Promise<Result> {
    const size = JSON.stringify(item.records).length;
    held += size;
    most = Math.max(most, held);
    await sleep(100);
    held -= size;
    return result(item);
  }
  async function work(): Promise<void> {
    most = 0;
    const worker = createWorker(groundOf(test.database), {
      sender: {
        send: (given) =>
          hold(given, (item) =>
            item.attempt === 1 && item.resource === 'twice' ? failed(item, true) : applied(item),
          ),
        findOut: (item) => hold(item, applied),
      },
      pollMs: 100,
      retryPolicy: { baseMs: 20, random: () => 0.5 },
      bytesInMemory: 12 * mebibyte,
    });
    workers.push(worker);
    await worker.start();
  }
  const queue = (laneId: string, times: number, bytes: number, resource = 'contacts') =>
    Promise.all(
      Array.from({ length: times }, () =>
        operations.acceptQueued(
          intake({ laneId, resource, records: [{ note: 'x'.repeat(bytes) }, { n: 1 }] }),
        ),
      ),
    );
  const allDone = (): Promise<void> =>
    until('nothing is left', async () => (await count(test.database, 'work')) === 0, 40_000);

  it('has no more of large items in memory than the budget, and does them all', async () => {
    const lanes = Array.from({ length: 4 }, () => randomUUID());
    await Promise.all(lanes.map((laneId) => queue(laneId, 10, mebibyte, 'twice')));
    await work();
    await allDone();
    expect(most).toBeGreaterThan(mebibyte);
    expect(most).toBeLessThan(13 * mebibyte);
    expect(
      await count(test.database, "operation WHERE status = 'success' AND succeeded = 2 AND attempts = 2"),
    ).toBe(40);
  }, 60_000);

  it('rescues within the same budget', async () => {
    const laneId = randomUUID();
    await queue(laneId, 25, mebibyte);
    await test.database.raw(
      'UPDATE work SET state = 1, attempt = 1, lease = gen_random_uuid() WHERE lane_id = $1',
      [laneId],
    );
    await work();
    await allDone();
    expect(most).toBeGreaterThan(mebibyte);
    expect(most).toBeLessThan(13 * mebibyte);
    expect(await count(test.database, "operation WHERE status = 'success' AND attempts = 1")).toBe(25);
  }, 60_000);

  it.each(['at once', 'gathered'])(
    'accepts no more than 64 MiB while the database does not answer: %s',
    async (how) => {
      const answering = Promise.withResolvers<void>();
      const rows: Database['rows'] = async (statement, values) => {
        await answering.promise;
        return test.database.rows<never>(statement, values);
      };
      const ground = groundOf({ ...test.database, rows });
      const node = createNode(ground);
      const gatherer = createAutoBatches(ground, node);
      const note = 'x'.repeat(4 * mebibyte);
      const { records: _, ...common } = intake();
      const accept = (): Promise<unknown> =>
        how === 'at once'
          ? node.acceptQueued(intake({ records: [{ fields: { note } }] }))
          : gatherer.accept({ ...common, record: { fields: { note } }, orderKey: null, maxDelaySeconds: 60 });
      const all = Array.from({ length: 40 }, () =>
        accept().then(
          () => 'accepted',
          (error: { code: string }) => error.code,
        ),
      );
      expect(await Promise.race(all)).toBe('overloaded');
      answering.resolve();
      const accepted = (await Promise.all(all)).filter((one) => one === 'accepted').length;
      expect(accepted).toBeGreaterThan(8);
      expect(accepted).toBeLessThan(20);
      await gatherer.close();
      await node.close();
    },
  );

  it('takes a synchronous write only while those under way leave room, and leaves some to others', async () => {
    const node = createNode(groundOf(test.database), { bytesInFlight: 9 * mebibyte });
    const answering = Promise.withResolvers<void>();
    const sent: string[] = [];
    const perform = (installationId: string, provider: string) => {
      const records = [{ fields: { note: 'x'.repeat(mebibyte) } }];
      return node.perform(intake({ installationId, request: { provider }, records }), async () => {
        sent.push(installationId);
        await answering.promise;
        return [{ kind: 'applied' }];
      });
    };
    const [slow, beside, other] = [randomUUID(), randomUUID(), randomUUID()];
    const all = [
      ...Array.from({ length: 20 }, () => perform(slow, 'slow')),
      ...Array.from({ length: 20 }, () => perform(beside, 'slow')),
      perform(other, 'other'),
    ];
    try {
      const codes = all.map((each) => each.catch((error: { code: string }) => error.code));
      expect(await Promise.race(codes)).toBe('overloaded');
      await until('the others are sent', () => sent.length >= 4);
      expect(sent.toSorted()).toEqual([slow, slow, beside, other].toSorted());
      expect(await count(test.database, 'operation')).toBe(4);
      answering.resolve();
      expect((await Promise.all(codes)).filter((code) => code !== 'overloaded')).toHaveLength(4);
      expect(await perform(slow, 'slow')).toMatchObject({ recorded: true });
    } finally {
      answering.resolve();
      await node.close();
    }
  });

  it('lets one that is larger than its part through, and the small ones pass beside it', async () => {
    const bytes = createBytes(8 * mebibyte);
    const large = await bytes.reserve(['a'], 100 * mebibyte, never);
    expect(large).toBeDefined();
    expect(await bytes.reserve(['b'], mebibyte, never)).toBeDefined();
    const others = await Promise.all(['b', 'c'].map((share) => bytes.reserve([share], 50 * mebibyte, never)));
    expect(others.every(Boolean)).toBe(true);
  });
});

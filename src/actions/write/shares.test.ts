import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import type { Database } from '../../kit/db/database.ts';
import { createLog } from '../../kit/log.ts';
import { sleep } from '../../kit/retry.ts';
import { type Node, applied, createNode, createWorker, failed, type Worker } from './harness.fixture.ts';
import { clearLedger, count, groundOf, intake, until } from '../../operations/harness.fixture.ts';
import type { ItemResult, Sender } from './send/sender.ts';
import type { WorkItem } from '../../operations/index.ts';

/** A provider that took the call and says nothing. */
function silence(item: WorkItem): ItemResult {
  return {
    kind: 'outcomes',
    heard: 'silence',
    outcomes: item.records.map(() => ({
      kind: 'notApplied',
      failure: { category: 'providerDown', retryable: true, message: 'timed out' },
    })),
  };
}

describe('write/shares', () => {
  let test: TestDatabase;
  let operations: Node;
  const workers: Worker[] = [];
  /** Lanes of the host that does not answer. */
  const hanging = new Set<string>();

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
    operations = createNode(groundOf(test.database));
    operations.onQueued((lane) => workers.forEach((worker) => worker.hint(lane)));
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await clearLedger(test.database);
    hanging.clear();
    told.length = 0;
  });
  afterAll(async () => {
    await operations.close();
    await test.drop();
  });

  /** Lines of the log about hosts that do not answer. */
  const told: string[] = [];
  const log = createLog('info', {
    destination: {
      write: (line) => {
        const { msg, share } = JSON.parse(line) as { msg: string; share?: string };
        if (share !== undefined) told.push(`${share}: ${msg}`);
      },
    },
  });
  async function work(
    write: Sender,
    shareOf?: (laneId: string) => string[],
    {
      database = test.database,
      ...settings
    }: { database?: Database; maxConcurrentItems?: number; maxLanes?: number } = {},
  ): Promise<void> {
    const worker = createWorker(
      { ...groundOf(database), log },
      {
        sender: write,
        pollMs: 200,
        retryPolicy: { baseMs: 20, random: () => 0.5 },
        ...settings,
        ...(shareOf ? { shareOf: ({ id }) => Promise.resolve(shareOf(id)) } : {}),
      },
    );
    workers.push(worker);
    await worker.start();
  }
  const queue = (laneId: string, times = 1) =>
    Promise.all(Array.from({ length: times }, () => operations.acceptQueued(intake({ laneId }))));
  const hostOf = (laneId: string): string[] => [hanging.has(laneId) ? 'hangs.example' : 'other.example'];
  const providerOf = (laneId: string): string[] => [
    hanging.has(laneId) ? 'hanging' : 'other',
    `${laneId}.example`,
  ];

  /** Hangs until it is aborted, as a call does whose provider says nothing. */
  function untilAborted(item: WorkItem, signal: AbortSignal): Promise<ItemResult> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(silence(item)), { once: true });
    });
  }
  const doneIn = async (laneId: string): Promise<number> => {
    const startedAt = performance.now();
    const [taken] = await queue(laneId);
    await until(
      'the write of the other provider is done',
      async () =>
        (await count(test.database, "operation WHERE id = $1 AND status = 'success'", [
          taken?.operationId,
        ])) === 1,
      20_000,
    );
    return performance.now() - startedAt;
  };

  it.each([
    ['one host', hostOf, 40, 600],
    ['one host, more of them than lanes are worked on at once', hostOf, 250, 600],
    ['hosts of their own', (laneId: string): string[] => [laneId], 120, 600],
    ['more hosts of one provider than there are places', providerOf, 120, 60],
  ])(
    'a hundred and more calls that hang at %s delay nobody else',
    async (_what, shareOf, lanes, places) => {
      let started = 0;
      const handler: Sender = {
        send: async (item, { signal }) => {
          if (!hanging.has(item.laneId)) return applied(item);
          started += 1;
          return untilAborted(item, signal);
        },
      };
      await work(handler, shareOf, { maxConcurrentItems: places });
      await doneIn(randomUUID());
      const alone = await doneIn(randomUUID());
      for (let n = 0; n < lanes; n += 1) hanging.add(randomUUID());
      await Promise.all([...hanging].map((laneId) => queue(laneId, 10)));
      await until('they hang', () => started >= Math.min(lanes, 100, places / 2), 20_000);
      await sleep(2_500);
      for (let times = 0; times < 3; times += 1)
        expect(await doneIn(randomUUID())).toBeLessThan(1_000 + 3 * alone);
      // What hangs holds little, and is marked as started only as far as it was.
      expect(await count(test.database, 'work WHERE state = 1')).toBe(started);
    },
    60_000,
  );

  it('lanes that find no place keep no other from being claimed, and rest', async () => {
    let started = 0;
    const handler: Sender = {
      send: async (item, { signal }) => {
        if (!hanging.has(item.laneId)) return applied(item);
        started += 1;
        return untilAborted(item, signal);
      },
    };
    // 200 lanes are held at the most.
    await work(handler, hostOf, { maxConcurrentItems: 30, maxLanes: 20 });
    for (let n = 0; n < 260; n += 1) hanging.add(randomUUID());
    await Promise.all([...hanging].map((laneId) => queue(laneId)));
    await until('they hang', () => started >= 20);
    for (let times = 0; times < 3; times += 1) await doneIn(randomUUID());
    expect(started).toBe(20);
    expect(await count(test.database, 'lane WHERE lease IS NULL AND not_before > svc_now()')).toBeGreaterThan(
      0,
    );
  }, 90_000);

  it('a host that only times out is tried by one call at a time, and what waits for it spends no attempt', async () => {
    let sent = 0;
    let running = 0;
    let most = 0;
    let answers = false;
    await work(
      {
        send: async (item) => {
          sent += 1;
          running += 1;
          most = Math.max(most, sent > 30 ? running : 0);
          await sleep(20);
          running -= 1;
          return answers ? { ...applied(item), heard: 'answer' as const } : silence(item);
        },
      },
      () => ['hangs.example'],
    );
    const lanes = Array.from({ length: 10 }, () => randomUUID());
    await Promise.all(lanes.map((laneId) => queue(laneId, 20)));
    await sleep(3_500);
    const before = sent;
    // Those that were under way when it tripped, and a probe after one and after three seconds.
    expect(before).toBeLessThan(40);
    expect(most).toBeLessThanOrEqual(1);
    expect(await count(test.database, 'work WHERE attempt > 0')).toBeLessThanOrEqual(before);
    answers = true;
    await until('all is done', async () => (await count(test.database, 'work')) === 0, 25_000);
    const attempts = await test.database.raw('SELECT sum(attempts)::int AS n FROM operation');
    expect(attempts).toEqual([{ n: sent }]);
    expect(sent).toBeLessThan(before + 201);
    // It rested more than once, and is told of once.
    expect(told).toEqual([
      'hangs.example: nothing was answered; calls there rest',
      'hangs.example: it is answered again; calls there go on',
    ]);
  }, 60_000);

  it('a host whose one call could not be sent, since its large part was not read, is tried by the next one', async () => {
    let answers = false;
    let readsToFail = 1;
    const database: Database = {
      ...test.database,
      rows: (statement, values) =>
        answers && statement.name === 'ledger_payloads' && readsToFail-- > 0
          ? Promise.reject(new Error('the database did not answer'))
          : test.database.rows<never>(statement, values),
    };
    await work(
      {
        send: async (item) =>
          answers ? { ...applied(item), heard: 'answer' } : { ...failed(item, false), heard: 'silence' },
      },
      () => ['hangs.example'],
      { database },
    );
    await Promise.all(Array.from({ length: 5 }, () => queue(randomUUID())));
    await until('the host rests', () => told.length === 1);
    answers = true;
    const large = intake({ records: [{ fields: { text: 'x'.repeat(300_000) } }] });
    await operations.acceptQueued(large);
    await until('its large part was not read', () => readsToFail <= 0);
    await doneIn(randomUUID());
    await until('all is done', async () => (await count(test.database, 'work')) === 0);
    expect(told.at(-1)).toBe('hangs.example: it is answered again; calls there go on');
  }, 60_000);
});

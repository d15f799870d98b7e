import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { wholeProject } from '../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { sleep } from '../../kit/retry.ts';
import type { Failure } from '../../providers/index.ts';
import {
  type Node,
  applied,
  createNode,
  createWorker,
  failed,
  handlerOf,
  type Worker,
} from './harness.fixture.ts';
import { clearLedger, count, groundOf, intake, projectId, until } from '../../operations/harness.fixture.ts';
import type { Intake, WorkItem } from '../../operations/index.ts';
import type { ItemResult, Sender } from './send/sender.ts';

describe('write/worker', () => {
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

  async function work(
    write: Sender,
    options: Partial<Parameters<typeof createWorker>[1]> = {},
  ): Promise<Worker> {
    const worker = createWorker(groundOf(test.database), {
      sender: write,
      pollMs: 100,
      retryPolicy: { baseMs: 20, random: () => 0.5 },
      ...options,
    });
    workers.push(worker);
    await worker.start();
    return worker;
  }
  const queue = async (given: Partial<Intake> = {}): Promise<string> =>
    (await operations.acceptQueued(intake(given))).operationId;
  const statusOf = async (id: string): Promise<string> =>
    (await operations.get(wholeProject(projectId), id)).status;
  const ended = (id: string): Promise<void> =>
    until('the operation ends', async () => (await statusOf(id)) !== 'in_progress');
  const allDone = (timeoutMs?: number): Promise<void> =>
    until('nothing is left', async () => (await count(test.database, 'work')) === 0, timeoutMs);

  it('does each item once with several workers on one database', async () => {
    const seen = new Map<string, number>();
    const handler = handlerOf((item) => {
      seen.set(item.operationId, (seen.get(item.operationId) ?? 0) + 1);
      return applied(item);
    });
    await Promise.all([work(handler), work(handler), work(handler)]);
    const lanes = Array.from({ length: 15 }, () => randomUUID());
    await Promise.all(Array.from({ length: 600 }, (_, n) => queue({ laneId: lanes[n % 15]! })));
    await allDone();
    expect(seen.size).toBe(600);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    expect(await count(test.database, "operation WHERE status = 'success'")).toBe(600);
  });

  it('has the attempt committed when the handler runs', async () => {
    const states: unknown[] = [];
    await work(
      handlerOf(async (item) => {
        states.push(
          ...(await test.database.raw('SELECT state, attempt, lease FROM work WHERE seq = $1', [item.seq])),
        );
        return applied(item);
      }),
    );
    await queue();
    await allDone();
    expect(states).toEqual([{ state: 1, attempt: 1, lease: expect.any(String) as string }]);
  });

  it('lets ten lanes with 10 items each finish promptly beside one with 20,000', async () => {
    const big = randomUUID();
    for (let n = 0; n < 20; n++)
      await Promise.all(Array.from({ length: 1_000 }, () => queue({ laneId: big })));
    const small = Array.from({ length: 10 }, () => randomUUID());
    let doneOfBig = 0;
    let left = 100;
    let bigWhenSmallWereDone = -1;
    await work(
      handlerOf(async (item) => {
        await sleep(2);
        if (item.laneId === big) doneOfBig += 1;
        else if (--left === 0) bigWhenSmallWereDone = doneOfBig;
        return applied(item);
      }),
      { maxConcurrentItems: 20 },
    );
    await until('the big lane is under way', () => doneOfBig > 100);
    await Promise.all(small.flatMap((laneId) => Array.from({ length: 10 }, () => queue({ laneId }))));
    await until('the small lanes are done', () => left === 0, 20_000);
    // First come, first served would have done all 20,000 before.
    expect(bigWhenSmallWereDone).toBeLessThan(2_500);
  });

  it('keeps the order of updates of one record, also over retries and two workers', async () => {
    const order: number[] = [];
    let running = 0;
    const handler = handlerOf(async (item) => {
      expect(++running).toBe(1);
      await sleep(2);
      running -= 1;
      if (item.attempt === 1 && Number(item.request['n']) % 3 === 0) return failed(item, true);
      order.push(Number(item.request['n']));
      return applied(item);
    });
    await Promise.all([work(handler), work(handler)]);
    const laneId = randomUUID();
    for (let n = 0; n < 20; n++)
      await queue({ laneId, orderKeys: ['contact 1'], request: { type: 'update', n } });
    await allDone();
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('burns no attempt of a throttled lane, and leaves other lanes alone', async () => {
    let calls = 0;
    await work(
      handlerOf((item) => {
        if (item.resource !== 'throttled') return applied(item);
        calls += 1;
        return calls <= 3 ? { kind: 'throttled', inMs: 400 } : applied(item);
      }),
    );
    const slow = await queue({ resource: 'throttled' });
    const startedAt = performance.now();
    const other = await queue();
    await ended(other);
    expect(performance.now() - startedAt).toBeLessThan(400);
    await ended(slow);
    expect(performance.now() - startedAt).toBeGreaterThan(1_100);
    expect(await operations.get(wholeProject(projectId), slow)).toMatchObject({
      status: 'success',
      metadata: { retry: { attempts: 1 } },
    });
    expect(calls).toBe(4);
  });

  it('ends retries at the deadline, whose clock does not start anew with an attempt', async () => {
    await work(handlerOf((item) => failed(item, true)));
    const id = await queue({ deadlineSeconds: 1 });
    const startedAt = performance.now();
    await ended(id);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const operation = await operations.get(wholeProject(projectId), id);
    expect(operation.status).toBe('failure');
    expect(operation.result).toMatch(/^\[contacts\] rateLimit: too many requests/);
    expect(operation.metadata.retry.attempts).toBeGreaterThan(2);
  });

  it('waits as long as the provider asks for, by the clock of the database', async () => {
    let calls = 0;
    const worker = await work(
      handlerOf((item) => (++calls === 1 ? failed(item, true, 1_800_000) : applied(item))),
    );
    const id = await queue({ deadlineSeconds: 3_600 });
    await until('the first attempt ends', async () => (await count(test.database, 'operation_log')) === 1);
    await sleep(300);
    expect(calls).toBe(1);
    const { nextAttempt, lastAttempt } = (await operations.get(wholeProject(projectId), id)).metadata.retry;
    expect(Date.parse(nextAttempt ?? '') - Date.parse(lastAttempt ?? '')).toBe(1_800_000);
    await test.database.raw("UPDATE clock SET shift = '31 minutes'");
    worker.hint();
    await ended(id);
    expect(await statusOf(id)).toBe('success');
    expect(calls).toBe(2);
  });

  it('fails without sending what is past its deadline', async () => {
    const id = await queue({ deadlineSeconds: 3_600 });
    await test.database.raw("UPDATE clock SET shift = '61 minutes'");
    let calls = 0;
    await work(handlerOf((item) => (calls++, applied(item))));
    await ended(id);
    expect(calls).toBe(0);
    expect(await operations.get(wholeProject(projectId), id)).toMatchObject({
      status: 'failure',
      counts: { failed: 1, unknown: 0 },
      metadata: { retry: { attempts: 0 } },
    });
  });

  it('gives its lanes back at an immediate stop, so that another knows at once what was cut off', async () => {
    let sent = 0;
    const hanging = await work(handlerOf(() => (sent++, new Promise(() => undefined))));
    const id = await queue();
    await until('it is sent', () => sent === 1);
    await hanging.stop(0);
    await work(handlerOf((item) => (sent++, applied(item))));
    await ended(id);
    expect(sent).toBe(1);
    expect(await operations.get(wholeProject(projectId), id)).toMatchObject({ counts: { unknown: 1 } });
  });

  it('finishes what is under way before a graceful stop, and leaves the rest for others', async () => {
    let sent = 0;
    const worker = await work(
      handlerOf(async (item) => (sent++, await sleep(150), applied(item))),
      { itemsPerLane: 1 },
    );
    const laneId = randomUUID();
    await Promise.all([queue({ laneId }), queue({ laneId }), queue({ laneId })]);
    await until('the first is sent', () => sent === 1);
    await worker.stop(5_000);
    expect(await count(test.database, "operation WHERE status = 'success'")).toBe(1);
    expect(await count(test.database, 'work WHERE state = 1')).toBe(0);
    await work(handlerOf(applied));
    await allDone();
    expect(await count(test.database, "operation WHERE status = 'success'")).toBe(3);
  });

  it('sends nothing more, and aborts what it sends, when its lease was lost', async () => {
    const contexts: boolean[] = [];
    let aborted = 0;
    await work(
      {
        send: (item, context) =>
          new Promise((resolve) => {
            context.signal.addEventListener('abort', () => {
              aborted += 1;
              contexts.push(context.mayStillSend());
              resolve(applied(item));
            });
          }),
      },
      { leaseMs: 400 },
    );
    const id = await queue();
    await until('it is sent', async () => (await count(test.database, 'work WHERE state = 1')) === 1);
    // Another claims the lane, as it would after a pause of this process.
    await test.database.raw(
      "UPDATE lane SET lease = gen_random_uuid(), due_at = now() + interval '1 second' WHERE lease IS NOT NULL",
    );
    await test.database.raw('UPDATE work SET lease = gen_random_uuid() WHERE state = 1');
    await until('the handler is aborted', () => aborted === 1);
    expect(contexts).toEqual([false]);
    await ended(id);
    expect(await operations.get(wholeProject(projectId), id)).toMatchObject({
      status: 'failure',
      counts: { unknown: 1 },
    });
  });

  it('asks the handler what became of items that another node had sent', async () => {
    const id = await queue();
    await work(handlerOf(() => new Promise(() => undefined)));
    await until('it is sent', async () => (await count(test.database, 'work WHERE state = 1')) === 1);
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    let executed = 0;
    await work({
      ...handlerOf((item) => (executed++, applied(item))),
      findOut: async (item) => applied(item),
    });
    await ended(id);
    expect(executed).toBe(0);
    expect(await statusOf(id)).toBe('success');
  });

  /** A synchronous write whose node goes away while it is on its way. */
  async function sendAndDie(): Promise<string> {
    const node = createNode(groundOf(test.database));
    let id = '';
    void node.perform(intake(), ({ operationId }) => {
      id = operationId;
      return new Promise(() => undefined);
    });
    await until('it is sent', () => id !== '');
    await node.close(0);
    return id;
  }

  it('ends the synchronous writes of a node that went away as unknown', async () => {
    const id = await sendAndDie();
    await work(handlerOf(applied));
    await ended(id);
    expect(await operations.get(wholeProject(projectId), id)).toMatchObject({ counts: { unknown: 1 } });
    await until(
      'its lane is removed',
      async () => (await count(test.database, "lane WHERE kind = 'node'")) === 0,
    );
  });

  it('asks again what became of such a write when the provider could not be asked, and never sends it', async () => {
    const id = await sendAndDie();
    let [executed, asked] = [0, 0];
    const away: Failure = { category: 'unknownOutcome', retryable: false, message: 'away', pending: true };
    const pending = (item: WorkItem): ItemResult => ({
      kind: 'outcomes',
      outcomes: item.records.map(() => ({ kind: 'unknown', failure: away })),
    });
    await work(
      {
        ...handlerOf((item) => (executed++, applied(item))),
        findOut: async (item) => (++asked < 3 ? pending(item) : applied(item)),
      },
      { retryPolicy: { baseMs: 20 } },
    );
    await ended(id);
    expect([executed, asked]).toEqual([0, 3]);
    expect(await statusOf(id)).toBe('success');
    await until(
      'its lane is removed',
      async () => (await count(test.database, "lane WHERE kind = 'node'")) === 0,
    );
  });

  it('finds work by polling when no hint arrives', async () => {
    await work(handlerOf(applied), { pollMs: 100 });
    const silent = createNode(groundOf(test.database));
    const { operationId } = await silent.acceptQueued(intake());
    await test.database.raw(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc notices'",
    );
    await ended(operationId);
    expect(await statusOf(operationId)).toBe('success');
    await silent.close();
  });

  it('goes on after every connection of the database was cut', async () => {
    let cut = 0;
    await work(
      handlerOf(async (item) => {
        await sleep(5);
        if (++cut === 50) {
          await test.database
            .raw(
              'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
            )
            .catch(() => undefined);
        }
        return applied(item);
      }),
      { leaseMs: 1_000 },
    );
    const laneId = randomUUID();
    const accepted = await Promise.all(Array.from({ length: 200 }, () => queue({ laneId })));
    await allDone(20_000);
    expect(new Set(accepted).size).toBe(200);
    expect(await count(test.database, "operation WHERE status = 'success'")).toBe(200);
  });
});

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wholeProject } from '../../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { declaredStatements } from '../../../kit/db/statement.ts';
import { newId } from '../../../kit/ids.ts';
import type { RecordOutcome } from '../../../providers/index.ts';
import { count, groundOf, intake, projectId, take, until } from '../../../operations/harness.fixture.ts';
import {
  type Node,
  applied,
  createNode,
  createWorker,
  failed,
  handlerOf,
  type Worker,
} from '../harness.fixture.ts';
import type { Intake, WorkItem } from '../../../operations/index.ts';
import { settle } from '../record/settle.ts';
import { insertGroup } from '../../../operations/store/accept.ts';
import { claim, firstProject, fold, type HeldLane } from '../../../lanes/store/lanes.ts';
import { unpark, withhold } from '../../../lanes/store/work.ts';
import { record } from '../../../operations/store/record.ts';

describe('write/turns', () => {
  let test: TestDatabase;
  let operations: Node;
  let worker: Worker | undefined;
  let sent: unknown[];
  let answer: Parameters<typeof handlerOf>[0];

  beforeEach(async () => {
    test = await createTestDatabase();
    operations = createNode(groundOf(test.database), { waitForTurnMs: 1_500 });
    sent = [];
    answer = applied;
  });
  afterEach(async () => {
    await worker?.stop(1_000);
    worker = undefined;
    await operations.close(1_000);
    await test.drop();
  });

  const startWorker = async (itemsPerLane = 20): Promise<void> => {
    worker = createWorker(groundOf(test.database), {
      sender: {
        ...handlerOf((item) => {
          sent.push(item.request['n']);
          return answer(item);
        }),
        findOut: async (item) => applied(item),
      },
      pollMs: 100,
      leaseMs: 3_000,
      itemsPerLane,
      retryPolicy: { baseMs: 20, random: () => 0.99 },
    });
    operations.onQueued((lane) => worker?.hint(lane));
    await worker.start();
  };
  const update = (n: number, given: Partial<Intake> = {}): Intake =>
    intake({ request: { type: 'update', n }, orderKeys: ['i/contacts/1'], ...given });
  const synchronously = (n: number, given: Partial<Intake> = {}) =>
    operations.perform(update(n, given), async () => {
      sent.push(n);
      await wait(50);
      return [{ kind: 'applied' } satisfies RecordOutcome];
    });
  const slowly = (ms: number) => async (item: WorkItem) => {
    await wait(ms);
    return applied(item);
  };

  it('lets a synchronous write wait for the queued ones of its record that were accepted before it', async () => {
    answer = slowly(150);
    await startWorker();
    const laneId = randomUUID();
    await operations.acceptQueued(update(1, { laneId }));
    await operations.acceptQueued(update(2, { laneId }));
    const performed = synchronously(3);
    await until('the synchronous write stands', async () => (await count(test.database, 'work')) === 3);
    await operations.acceptQueued(update(4, { laneId }));
    expect(await performed).toMatchObject({ recorded: true, outcomes: [{ kind: 'applied' }] });
    await until('everything ended', async () => (await count(test.database, 'work')) === 0);
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it('sends synchronous writes of one record one after the other, and those of others at once', async () => {
    let running = 0;
    let most = 0;
    const send = async (): Promise<RecordOutcome[]> => {
      most = Math.max(most, (running += 1));
      await wait(80);
      running -= 1;
      return [{ kind: 'applied' }];
    };
    await Promise.all([1, 2, 3].map((n) => operations.perform(update(n), send)));
    expect(most).toBe(1);
    await Promise.all(
      [1, 2, 3].map((n) => operations.perform(update(n, { orderKeys: [`i/contacts/${n}`] }), send)),
    );
    expect(most).toBe(3);
  });

  it('refuses what has no turn in time, keeps nothing of it, and holds nobody up', async () => {
    const laneId = randomUUID();
    const key = { principal: 'p', key: 'k', hash: Buffer.alloc(32) };
    await operations.acceptQueued(update(1, { laneId }));
    const refused = await synchronously(2, { key }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'record-busy', status: 409 });
    expect(await count(test.database, 'operation')).toBe(1);
    expect(await count(test.database, 'record')).toBe(1);
    expect(await count(test.database, 'turn')).toBe(1);
    expect(await operations.earlierUse(projectId, key)).toBeUndefined();
    await startWorker();
    await until('the queued one ended', async () => (await count(test.database, 'work')) === 0);
    expect(await synchronously(3, { key })).toMatchObject({ recorded: true });
    expect(sent).toEqual([1, 3]);
  });

  it('ends what waited on a node that is gone, with nothing sent', async () => {
    const ground = groundOf(test.database);
    const laneId = randomUUID();
    await operations.acceptQueued(update(1, { laneId }));
    const gone = createNode(ground, { leaseMs: 600, waitForTurnMs: 60_000 });
    const lost = gone.perform(update(2), () => Promise.reject(new Error('it was sent')));
    lost.catch(() => undefined);
    await until('it waits', async () => (await count(test.database, 'work WHERE state = 2')) === 1);
    // Its node is frozen from here on: nothing of it reaches the database.
    await test.database.raw(
      `UPDATE lane SET lease = gen_random_uuid(), due_at = svc_now() WHERE kind = 'node'`,
    );
    await startWorker();
    await until('everything ended', async () => (await count(test.database, 'work')) === 0);
    const rows = await test.database.raw(`SELECT status, errors FROM operation ORDER BY id`);
    expect(rows).toMatchObject([
      { status: 'success' },
      { status: 'failure', errors: [{ message: expect.stringContaining('nothing was sent') as string }] },
    ]);
    expect(sent).toEqual([1]);
    await gone.close(0);
  });

  it('costs an uncontended synchronous write its two statements', async () => {
    await synchronously(1);
    const names: string[] = [];
    const counted = createNode({
      ...groundOf(test.database),
      database: {
        ...test.database,
        rows: (statement, values) => {
          names.push(statement.name);
          return test.database.rows(statement, values);
        },
      },
    });
    const send = (): Promise<RecordOutcome[]> => Promise.resolve([{ kind: 'applied' }]);
    await counted.perform(update(2), send);
    names.length = 0;
    await counted.perform(update(3), send);
    expect(names.filter((name) => name !== 'installation_status')).toEqual(['ledger_accept', 'work_record']);
    await counted.close();
  });

  it('parks what stands behind another, and passes every turn on while acceptances and records meet', async () => {
    await startWorker();
    const laneId = randomUUID();
    const second = createNode(groundOf(test.database));
    for (let n = 0; n < 400; n += 1) {
      const orderKeys = [`i/contacts/${n % 3}`];
      const node = n % 2 === 0 ? operations : second;
      await Promise.all([
        node.acceptQueued(update(n, { laneId, orderKeys })),
        n % 5 === 0 ? node.acceptQueued(update(n, { laneId: randomUUID(), orderKeys })) : undefined,
        n % 40 === 0 ? synchronously(-1, { orderKeys }) : undefined,
      ]);
    }
    await until('everything ended', async () => (await count(test.database, 'work')) === 0, 25_000);
    expect(await count(test.database, 'turn')).toBe(0);
    await second.close();
  });

  it('leaves parked what waits for one before it when those between go away: no take looks at it', async () => {
    const laneId = randomUUID();
    await operations.acceptQueued(update(0, { laneId }));
    const given: Promise<unknown>[] = [];
    for (let n = 1; n <= 20; n += 1) {
      given.push(synchronously(-n).catch((error: { code?: string }) => error.code));
      await until('it stands', async () => (await count(test.database, 'turn')) === 2 * n);
      await operations.acceptQueued(update(n, { laneId }));
    }
    expect(new Set(await Promise.all(given))).toEqual(new Set(['record-busy']));
    expect(await count(test.database, 'work WHERE state = 0')).toBe(1);
    expect(await count(test.database, 'work WHERE state = 2')).toBe(20);
    await startWorker();
    await until('everything ended', async () => (await count(test.database, 'work')) === 0, 15_000);
    expect(sent).toEqual(Array.from({ length: 21 }, (_, n) => n));
  });

  it('passes every turn on while those between go away, and others are accepted', async () => {
    await startWorker();
    const laneId = randomUUID();
    const hasty = createNode(groundOf(test.database), { waitForTurnMs: 15 });
    const given: Promise<unknown>[] = [];
    for (let n = 0; n < 300; n += 1) {
      const orderKeys = [`i/contacts/${n % 2}`];
      await operations.acceptQueued(update(n, { laneId, orderKeys }));
      const send = (): Promise<RecordOutcome[]> => Promise.resolve([{ kind: 'applied' }]);
      given.push(
        hasty.perform(update(-1, { orderKeys }), send).catch((error: { code?: string }) => error.code),
      );
    }
    expect(await Promise.all(given)).toContain('record-busy');
    await until('everything ended', async () => (await count(test.database, 'work')) === 0, 25_000);
    expect(await count(test.database, 'turn')).toBe(0);
    await hasty.close();
  });

  it('fails a parked item at its deadline, whatever it waits for', async () => {
    answer = (item) => failed(item, true, 3_000_000);
    await startWorker();
    const laneId = randomUUID();
    await operations.acceptQueued(update(1, { laneId }));
    const { operationId } = await operations.acceptQueued(update(2, { laneId, deadlineSeconds: 60 }));
    await until('the first waits for its next attempt', async () => sent.length === 1);
    expect(await count(test.database, 'work WHERE state = 2')).toBe(1);
    await test.database.raw(`UPDATE clock SET shift = '70 seconds'`);
    await until('the second failed', async () => {
      return (await operations.get(wholeProject(projectId), operationId)).status === 'failure';
    });
    expect(sent).toEqual([1]);
  });

  const settled = (item: WorkItem) => settle(item, applied(item), { baseMs: 1, capMs: 1, random: () => 0 });
  const hold = async (): Promise<HeldLane> => {
    await fold(test.database);
    const request = { perProject: 5, limit: 5, lease: randomUUID(), leaseMs: 60_000 };
    const [lane] = await claim(test.database, { ...request, afterProject: firstProject });
    if (!lane) throw new Error('no lane is due');
    return lane;
  };

  it('takes what was withheld and left again, also where its turn came meanwhile', async () => {
    const laneId = randomUUID();
    await operations.acceptQueued(update(1, { laneId }));
    const { operationId: ref } = await operations.acceptQueued(update(2, { laneId }));
    const lane = await hold();
    const [first, ...more] = await take(test.database, [{ ...lane, room: 20 }]);
    expect(more).toEqual([]);
    const [{ seq }] = (await test.database.raw('SELECT seq FROM work WHERE state = 2')) as [{ seq: string }];
    const waiting = { projectId, seq, ref, lease: newId() };
    await unpark(test.database, 'write', waiting);
    const left = test.database.transaction(async (tx) => {
      expect(await withhold(tx, 'write', waiting)).toMatchObject({ ref });
      expect(await record(test.database, [settled(first as WorkItem)])).toEqual([true]);
      throw new Error('its node died');
    });
    await expect(left).rejects.toThrow('its node died');
    expect(await take(test.database, [{ ...lane, room: 20 }])).toMatchObject([{ operationId: ref }]);
  });

  it('passes every turn on while what waits is withheld and left again', async () => {
    await startWorker();
    const accepted: Promise<{ operationId: string }>[] = [];
    const laneId = randomUUID();
    for (let n = 0; n < 100; n += 1) {
      const orderKeys = [`i/contacts/${n % 3}`, `i/contacts/${(n + 1) % 3}`];
      accepted.push(operations.acceptQueued(update(n, { laneId, orderKeys, records: [{}, {}] })));
    }
    await Promise.all(accepted);
    const leave = async (): Promise<void> => {
      const [one] = await test.database.raw(
        `SELECT seq, ref FROM work WHERE state = 2 ORDER BY seq LIMIT 1 OFFSET floor(random() * 3)`,
      );
      if (!one) return;
      const waiting = { projectId, ...(one as { seq: string; ref: string }), lease: newId() };
      await unpark(test.database, 'write', waiting);
      const left = test.database.transaction(async (tx) => {
        await withhold(tx, 'write', waiting);
        await wait(20);
        throw new Error('its node died');
      });
      await expect(left).rejects.toThrow('its node died');
    };
    await until(
      'everything ended',
      async () => {
        await Promise.all([leave(), leave(), leave()]);
        return (await count(test.database, 'work')) === 0;
      },
      25_000,
    );
    expect(sent).toHaveLength(100);
  }, 40_000);

  it('takes the more urgent first: interactive, write, read, backfill', async () => {
    const laneId = randomUUID();
    for (const prio of [3, 2, 1, 0, 3, 0] as const)
      await operations.acceptQueued(intake({ laneId, prio, request: { type: 'create', prio } }));
    const lane = await hold();
    const order: unknown[] = [];
    for (const room of [1, 2, 3])
      for (const item of await take(test.database, [{ ...lane, room }])) order.push(item.request['prio']);
    expect(order).toEqual([0, 0, 1, 2, 3, 3]);
  });

  it('lets something interactive go before a backfill that fills its lane', async () => {
    answer = slowly(30);
    const laneId = randomUUID();
    for (let n = 0; n < 30; n += 1)
      await operations.acceptQueued(intake({ laneId, prio: 3, request: { type: 'create', n: 'backfill' } }));
    await startWorker(2);
    await until('it is under way', () => sent.length > 0);
    await operations.acceptQueued(intake({ laneId, prio: 0, request: { type: 'create', n: 'interactive' } }));
    await until('it was sent', () => sent.includes('interactive'));
    expect(sent.indexOf('interactive')).toBeLessThan(12);
  });

  it('takes as much trouble over 40,000 writes of one record as over 40', async () => {
    const few = await blocksOfTake(40);
    const many = await blocksOfTake(40_000);
    // An index of 40,000 has a level more than one of 40.
    expect(many).toBeLessThan(few * 2 + 20);
  }, 120_000);

  /** Blocks that PostgreSQL touches for a take, of a lane where so many writes of one record stand before one of another. */
  async function blocksOfTake(waiting: number): Promise<number> {
    const laneId = randomUUID();
    const orderKeys = [`i/contacts/${waiting}`];
    const common = { lease: null, payloads: ['{}'], laneId, records: [{}] };
    const row = (keys: string[]) => ({ ...update(0), ...common, orderKeys: keys, operationId: newId() });
    for (let n = 0; n < waiting; n += 2_000) {
      const group = Array.from({ length: Math.min(2_000, waiting) }, () => row(orderKeys));
      await insertGroup(test.database, group);
    }
    await insertGroup(test.database, [row(['i/contacts/other'])]);
    const lane = await hold();
    const [first, other, ...more] = await take(test.database, [{ ...lane, room: 20 }]);
    if (!first || !other) throw new Error('nothing was taken');
    expect(more).toEqual([]);
    expect(await record(test.database, [settled(first), settled(other)])).toEqual([true, true]);
    const found = declaredStatements().find(({ name }) => name === 'work_take');
    const client = new Client({ connectionString: test.url });
    await client.connect();
    try {
      // With statistics in which one record has nearly all of the turns.
      await client.query('ANALYZE work, turn, lane');
      await client.query('SET plan_cache_mode = force_generic_plan');
      await client.query(`PREPARE work_take AS ${found?.text ?? ''}`);
      const values = [lane.projectId, lane.id, lane.lease].map((one) => `ARRAY['${one}']::uuid[]`).join(', ');
      const explained = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS) EXECUTE work_take(${values}, ARRAY[20])`,
      );
      const plan = explained.rows.map((line) => line['QUERY PLAN']);
      if (process.env['SHOW_PLANS']) process.stdout.write(`${plan.join('\n')}\n\n`);
      const [, hit = '', , read = '0'] =
        /Buffers: shared hit=(\d+)( read=(\d+))?/.exec(
          plan.find((line) => line.includes('Buffers:')) ?? '',
        ) ?? [];
      return Number(hit) + Number(read);
    } finally {
      await client.end();
    }
  }
});

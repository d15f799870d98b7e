import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { wholeProject } from '../../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import {
  injectErrors,
  makeReadOnly,
  makeWritable,
  type InjectedErrors,
} from '../../../../test/injected-errors.ts';
import type { Database } from '../../../kit/db/database.ts';
import { problem } from '../../../kit/problem.ts';
import { sleep } from '../../../kit/retry.ts';
import { findCreatedElsewhere } from '../../../operations/index.ts';
import {
  type Node,
  applied,
  createNode,
  createWorker,
  failed,
  handlerOf,
  type Worker,
} from '../harness.fixture.ts';
import {
  clearLedger,
  count,
  groundOf,
  intake,
  projectId,
  until,
} from '../../../operations/harness.fixture.ts';

/** One of each class that says nothing about the rows, and of those that nobody expects. */
const passing = ['25006', '40001', '53100', '53200', '55P03', '57014', '57P03', '58030', '0A000', 'XX000'];

describe('write/recording', () => {
  let test: TestDatabase;
  let errors: InjectedErrors;
  let operations: Node;
  const workers: Worker[] = [];
  let resolvedUnknown = 0;

  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
    errors = await injectErrors(test.database, 'work');
    operations = createNode(groundOf(test.database), { leaseMs: 2_000 });
    operations.onQueued((lane) => workers.forEach((worker) => worker.hint(lane)));
  });
  afterEach(async () => {
    await errors.raise(null);
    await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    await test.database.raw('DROP TRIGGER IF EXISTS poison ON record');
    await clearLedger(test.database);
    resolvedUnknown = 0;
  });
  afterAll(async () => {
    await operations.close();
    await test.drop();
  });

  async function work(
    answer: Parameters<typeof handlerOf>[0],
    database: Database = test.database,
  ): Promise<void> {
    const worker = createWorker(groundOf(database), {
      sender: {
        ...handlerOf(answer),
        findOut: async (item) => {
          resolvedUnknown += 1;
          return failed(item, false);
        },
      },
      pollMs: 100,
      leaseMs: 2_000,
      retryPolicy: { baseMs: 20, random: () => 0.5 },
    });
    workers.push(worker);
    await worker.start();
  }
  const operation = (id: string) => operations.get(wholeProject(projectId), id);
  const ended = (id: string, timeoutMs = 15_000): Promise<void> =>
    until('the operation ends', async () => (await operation(id)).status !== 'in_progress', timeoutMs);

  it.each(passing)(
    'keeps a known outcome while the database answers %s, and records it then',
    async (state) => {
      await work(async (item) => {
        await errors.raise(state);
        return applied(item);
      });
      const { operationId } = await operations.acceptQueued(intake());
      await sleep(600);
      expect(await operation(operationId)).toMatchObject({ status: 'in_progress' });
      await errors.raise(null);
      await ended(operationId);
      expect(await operation(operationId)).toMatchObject({
        status: 'success',
        counts: { succeeded: 1, unknown: 0 },
        metadata: { retry: { attempts: 1 } },
      });
      expect(resolvedUnknown).toBe(0);
    },
  );

  it('leaves what is still to be found out to others, also where only the answer to its record was lost', async () => {
    let isLost = false;
    const rows: Database['rows'] = async (statement, values) => {
      const found = await test.database.rows<never>(statement, values);
      if (isLost || !statement.name.startsWith('work_record')) return found;
      isLost = true;
      throw problem('database-unavailable');
    };
    const node = createNode(groundOf({ ...test.database, rows }), { leaseMs: 2_000 });
    onTestFinished(() => node.close());
    await work((item) => Promise.resolve(applied(item)));
    const failure = { category: 'unknownOutcome', retryable: false, pending: true, message: 'lost' } as const;
    const { operationId } = await node.perform(intake(), () =>
      Promise.resolve([{ kind: 'unknown', failure }]),
    );
    await ended(operationId);
    expect([isLost, resolvedUnknown]).toEqual([true, 1]);
  });

  it('makes one attempt at a time, although the answer to the record of one that is made again at once was lost', async () => {
    let recorded = 0;
    const rows: Database['rows'] = async (statement, values) => {
      if (!statement.name.startsWith('work_record')) return test.database.rows<never>(statement, values);
      recorded += 1;
      if (recorded === 2) await until('the next attempt begins', async () => underWay.begun === 2, 5_000);
      const found = await test.database.rows<never>(statement, values);
      if (recorded > 1) return found;
      await test.database.raw('UPDATE work SET due_at = svc_now() WHERE state = 0');
      throw problem('database-unavailable');
    };
    const underWay = { now: 0, most: 0, begun: 0 };
    await work(
      async (item) => {
        underWay.begun += 1;
        underWay.now += 1;
        underWay.most = Math.max(underWay.most, underWay.now);
        if (underWay.begun === 2) await sleep(1_000);
        underWay.now -= 1;
        return underWay.begun === 1 ? failed(item, true) : applied(item);
      },
      { ...test.database, rows },
    );
    const { operationId } = await operations.acceptQueued(intake());
    await ended(operationId);
    expect(underWay).toEqual({ now: 0, most: 1, begun: 2 });
    expect(await operation(operationId)).toMatchObject({ status: 'success' });
    expect(recorded).toBe(3);
  });

  it('is recorded by its node, although one that waited for the database starts when that is back', async () => {
    const state = { isAway: false };
    const rows: Database['rows'] = async (statement, values) => {
      if (state.isAway) throw problem('database-unavailable');
      return test.database.rows<never>(statement, values);
    };
    await work(
      async (item) => {
        state.isAway = true;
        return applied(item);
      },
      { ...test.database, rows },
    );
    const { operationId } = await operations.acceptQueued(intake());
    await until('the lease of its lane is over', async () => {
      const over = 'lane WHERE lease IS NOT NULL AND due_at < svc_now()';
      return state.isAway && (await count(test.database, over)) > 0;
    });
    const another = createWorker(groundOf(test.database), {
      sender: {
        ...handlerOf((item) => Promise.resolve(applied(item))),
        findOut: async (item) => {
          resolvedUnknown += 1;
          return failed(item, false);
        },
      },
      pollMs: 100,
      leaseMs: 2_000,
    });
    workers.push(another);
    await another.start(true);
    state.isAway = false;
    await ended(operationId);
    expect(await operation(operationId)).toMatchObject({ status: 'success', counts: { succeeded: 1 } });
    expect(resolvedUnknown).toBe(0);
  });

  it('tells of an end that was recorded, although the answer to that was lost', async () => {
    let isLost = false;
    const told: unknown[] = [];
    const rows: Database['rows'] = async (statement, values) => {
      const found = await test.database.rows<never>(statement, values);
      if (isLost || !statement.name.startsWith('work_record')) return found;
      isLost = true;
      throw problem('database-unavailable');
    };
    const tell: Database['tell'] = (project, change) => {
      told.push(change);
      test.database.tell(project, change);
    };
    await work((item) => Promise.resolve(applied(item)), { ...test.database, rows, tell });
    const { operationId } = await operations.acceptQueued(intake());
    await ended(operationId);
    await until('it is told', () => told.length > 0, 5_000);
    expect([isLost, told]).toEqual([
      true,
      [expect.objectContaining({ type: 'operation', id: operationId, status: 'success' })],
    ]);
  });

  it('finds the records that creates of the installation are known to have made', async () => {
    const { installationId } = intake();
    const make = (recordId: string, more: Parameters<typeof intake>[0] = {}, created?: boolean) =>
      operations.perform(intake({ installationId, ...more }), () =>
        Promise.resolve([{ kind: 'applied', recordId, ...(created === undefined ? {} : { created }) }]),
      );
    await make('7');
    await make('8', { installationId: intake().installationId });
    await make('9', { request: { type: 'update' } });
    await make('11', { request: { type: 'upsert' } });
    await make('12', { request: { type: 'upsert' } }, true);
    const { operationId } = await make('10');
    const among = ['7', '8', '9', '10', '11', '12'];
    const find = async (slot: number, ids = among) => {
      const item = { projectId, operationId, records: [{ index: slot, payload: {} }] };
      return (await findCreatedElsewhere(test.database, item, ids)).sort();
    };
    // What a record of the item itself made may be recorded by a node that took it over.
    expect(await find(0)).toEqual(['12', '7']);
    expect(await find(1)).toEqual(['10', '12', '7']);
    expect(await find(0, [])).toEqual([]);
  });

  it('tells the caller of a synchronous write the outcome meanwhile', async () => {
    const performed = await operations.perform(intake(), async () => {
      await errors.raise('53100');
      return [{ kind: 'applied', recordId: 'r1' }];
    });
    expect(performed).toMatchObject({ recorded: false, outcomes: [{ kind: 'applied', recordId: 'r1' }] });
    await errors.raise(null);
    await ended(performed.operationId);
    expect(await operation(performed.operationId)).toMatchObject({ status: 'success' });
  });

  it('records what it knows when the database was read-only for longer than a lease', async () => {
    const sent: string[] = [];
    await work(async (item) => {
      await makeReadOnly(test.url);
      sent.push(item.operationId);
      return applied(item);
    });
    const queued = operations.acceptQueued(intake());
    const { operationId } = await queued;
    await until('it is sent', () => sent.length === 1);
    // Sessions were ended; the pool finds out by their next statements.
    await until('its row is marked', async () => {
      const marked = await test.database.raw('SELECT 1 FROM work WHERE state = 1').catch(() => []);
      return marked.length === 1;
    });
    await sleep(6_000);
    await makeWritable(test.url);
    await ended(operationId);
    expect(await operation(operationId)).toMatchObject({ status: 'success', counts: { unknown: 0 } });
    expect(resolvedUnknown).toBe(0);
    expect(sent).toEqual([operationId]);
  });

  it('records a row without the words that the database refuses, and those beside it whole', async () => {
    await test.database.raw(`CREATE OR REPLACE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.outcome::text LIKE '%poison%' THEN RAISE EXCEPTION 'refused' USING ERRCODE = '22P05'; END IF;
        RETURN NEW;
      END $$`);
    await test.database.raw(
      'CREATE TRIGGER poison BEFORE UPDATE ON record FOR EACH ROW EXECUTE FUNCTION poison()',
    );
    await work((item) => ({
      kind: 'outcomes',
      outcomes: [
        {
          kind: 'notApplied',
          failure: { category: 'validation', retryable: false, message: `${item.resource} is wrong` },
        },
      ],
    }));
    const resources = ['contacts', 'poison', 'companies'];
    const ids = await Promise.all(
      resources.map(async (resource) => (await operations.acceptQueued(intake({ resource }))).operationId),
    );
    for (const id of ids) await ended(id);
    const results = await Promise.all(ids.map(async (id) => (await operation(id)).result));
    expect(results).toEqual([
      '[contacts] validation: contacts is wrong',
      '[poison] validation: the text of the failure could not be stored',
      '[companies] validation: companies is wrong',
    ]);
    expect(await count(test.database, 'work')).toBe(0);
  });

  it('lets one row that cannot be recorded hold up no other', async () => {
    await test.database.raw(`CREATE OR REPLACE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.record_id = 'poison' THEN RAISE EXCEPTION 'refused' USING ERRCODE = 'XX001'; END IF;
        RETURN NEW;
      END $$`);
    await test.database.raw(
      'CREATE TRIGGER poison BEFORE UPDATE ON record FOR EACH ROW EXECUTE FUNCTION poison()',
    );
    await work((item) => ({ kind: 'outcomes', outcomes: [{ kind: 'applied', recordId: item.resource }] }));
    const queue = async (resource: string) =>
      (await operations.acceptQueued(intake({ resource }))).operationId;
    const [bad, ...good] = await Promise.all([
      queue('poison'),
      ...Array.from({ length: 30 }, () => queue('fine')),
    ]);
    for (const id of good) await ended(id);
    expect(await operation(bad)).toMatchObject({ status: 'in_progress' });
    await test.database.raw('DROP TRIGGER poison ON record');
    await ended(bad);
    expect(await operation(bad)).toMatchObject({
      status: 'success',
      metadata: { successfulRecordIds: ['poison'] },
    });
  });
});

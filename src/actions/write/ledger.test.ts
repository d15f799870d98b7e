import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confine, wholeProject } from '../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { newId } from '../../kit/ids.ts';
import {
  type Node,
  applied,
  createNode,
  createWorker,
  failed,
  handlerOf,
  type Worker,
} from './harness.fixture.ts';
import { count, groundOf, intake, projectId, until } from '../../operations/harness.fixture.ts';

describe('write/ledger', () => {
  let test: TestDatabase;
  let operations: Node;
  let worker: Worker;
  let answer: Parameters<typeof handlerOf>[0] = applied;

  beforeAll(async () => {
    test = await createTestDatabase();
    const ground = groundOf(test.database);
    operations = createNode(ground);
    worker = createWorker(ground, {
      sender: {
        ...handlerOf((item) => answer(item)),
        findOut: async (item) => applied(item),
      },
      pollMs: 200,
      retryPolicy: { baseMs: 20, random: () => 0.99 },
    });
    operations.onQueued((lane) => worker.hint(lane));
    await worker.start();
  });
  afterAll(async () => {
    await worker.stop(1_000);
    await operations.close();
    await test.drop();
  });

  const ended = (operationId: string): Promise<void> =>
    until('the operation ends', async () => {
      return (await operations.get(wholeProject(projectId), operationId)).status !== 'in_progress';
    });

  it('carries queued work to its end and tells about it', async () => {
    const { operationId } = await operations.acceptQueued(intake({ records: [{ reference: 'a' }, {}] }));
    await ended(operationId);
    const operation = await operations.get(wholeProject(projectId), operationId);
    expect(operation).toMatchObject({
      status: 'success',
      actionType: 'write',
      resource: 'contacts',
      result: '[contacts] 2 records created.',
      counts: { total: 2, succeeded: 2, failed: 0, unknown: 0 },
      metadata: { objects: ['contacts'], retry: { attempts: 1 }, successfulRecordIds: ['r0', 'r1'] },
      errors: [],
    });
    const { results, pagination } = await operations.records(wholeProject(projectId), operationId, {
      pageSize: 1,
    });
    expect(results).toEqual([
      { index: 0, reference: 'a', recordId: 'r0', success: true, errors: [], resolution: 'applied' },
    ]);
    const next = await operations.records(wholeProject(projectId), operationId, {
      pageSize: 1,
      pageToken: pagination.nextPageToken,
    });
    expect(next).toMatchObject({ results: [{ index: 1, success: true }], pagination: { done: true } });
    expect(await operations.logs(wholeProject(projectId), operationId)).toMatchObject([
      { severity: 'info', message: { msg: '[contacts] 2 records created.', operation_id: operationId } },
    ]);
    expect(await count(test.database, 'work')).toBe(0);
  });

  it('keeps numbers of a payload digit for digit on their way to the handler', async () => {
    const seen: string[] = [];
    answer = (item) => {
      seen.push(JSON.stringify(item.records[0]?.payload));
      return applied(item);
    };
    const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9007199254740993');
    const { operationId } = await operations.acceptQueued(intake({ records: [{ amount: exact }] }));
    await ended(operationId);
    answer = applied;
    expect(seen).toEqual(['{"amount":9007199254740993}']);
  });

  it('tries again what may be tried again, and only those records', async () => {
    const attempts: number[][] = [];
    answer = (item) => {
      attempts.push(item.records.map(({ index }) => index));
      if (item.attempt === 3) return applied(item);
      const [first, ...rest] = item.records;
      return {
        kind: 'outcomes',
        outcomes: [
          ...(first ? [{ kind: 'applied' as const, recordId: `x${first.index}` }] : []),
          ...rest.map(() => ({
            kind: 'notApplied' as const,
            failure: { category: 'rateLimit' as const, retryable: true, message: 'slow down' },
          })),
        ],
      };
    };
    const { operationId } = await operations.acceptQueued(intake({ records: [{}, {}, {}] }));
    await ended(operationId);
    answer = applied;
    expect(attempts).toEqual([[0, 1, 2], [1, 2], [2]]);
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'success',
      counts: { succeeded: 3, failed: 0 },
      metadata: { retry: { attempts: 3 }, successfulRecordIds: ['x0', 'x1', 'r2'] },
    });
    expect(await operations.logs(wholeProject(projectId), operationId)).toMatchObject([
      { severity: 'warning' },
      { severity: 'warning' },
      { severity: 'info' },
    ]);
  });

  it('shows how the last attempt failed while another is to come, and forgets it when that succeeds', async () => {
    answer = (item) => (item.attempt === 1 ? failed(item, true, 300) : applied(item));
    const { operationId } = await operations.acceptQueued(intake());
    await until('the first attempt ends', async () => {
      return (await operations.get(wholeProject(projectId), operationId)).metadata.retry.attempts === 1;
    });
    const waiting = await operations.get(wholeProject(projectId), operationId);
    expect(waiting).toMatchObject({ status: 'in_progress', errors: [{ index: 0, category: 'rateLimit' }] });
    await ended(operationId);
    answer = applied;
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'success',
      errors: [],
    });
  });

  it('keeps an outcome unknown when a later attempt is known not to have been applied', async () => {
    const failure = { category: 'unknownOutcome', retryable: true, message: 'lost' } as const;
    answer = (item) =>
      item.attempt === 1
        ? { kind: 'outcomes', outcomes: [{ kind: 'unknown', failure }] }
        : failed(item, false);
    const { operationId } = await operations.acceptQueued(intake());
    await ended(operationId);
    answer = applied;
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'failure',
      counts: { failed: 0, unknown: 1 },
      errors: [{ category: 'unknownOutcome' }],
    });
  });

  it('fails what cannot be done, with the category first', async () => {
    answer = (item) => failed(item, false);
    const { operationId } = await operations.acceptQueued(intake());
    await ended(operationId);
    answer = applied;
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'failure',
      result: '[contacts] validation: email is not an address',
      errors: [{ index: 0, category: 'validation', retryable: false, message: 'email is not an address' }],
      counts: { total: 1, succeeded: 0, failed: 1, unknown: 0 },
    });
  });

  it('counts what a handler throws as an unknown outcome', async () => {
    answer = () => {
      throw new Error('the socket broke');
    };
    const { operationId } = await operations.acceptQueued(intake());
    await ended(operationId);
    answer = applied;
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'failure',
      errors: [{ category: 'unknownOutcome', retryable: false }],
      counts: { unknown: 1 },
    });
  });

  it('commits a synchronous write as started before it is sent, and records its end', async () => {
    let duringSend: unknown[] = [];
    const performed = await operations.perform(
      intake({ orderKeys: ['contact 1'] }),
      async ({ operationId }, context) => {
        expect(context.mayStillSend()).toBe(true);
        duringSend = await test.database.raw('SELECT state, attempt FROM work WHERE ref = $1', [operationId]);
        return [{ kind: 'applied', recordId: '7', data: { id: '7' } }];
      },
    );
    expect(duringSend).toEqual([{ state: 1, attempt: 1 }]);
    expect(performed).toMatchObject({ recorded: true, outcomes: [{ data: { id: '7' } }] });
    expect(await operations.get(wholeProject(projectId), performed.operationId)).toMatchObject({
      status: 'success',
      metadata: { successfulRecordIds: ['7'] },
    });
    expect(await count(test.database, 'work')).toBe(0);
    expect(await count(test.database, 'turn')).toBe(0);
  });

  it('records a synchronous write whose sending broke off as unknown', async () => {
    const performed = await operations.perform(intake(), () => Promise.reject(new Error('cut')));
    expect(performed.outcomes).toMatchObject([{ kind: 'unknown' }]);
    expect(await operations.get(wholeProject(projectId), performed.operationId)).toMatchObject({
      status: 'failure',
    });
  });

  it('leaves a synchronous write whose record could not be looked for to a worker, which ends it', async () => {
    const node = createNode(groundOf(test.database), { leaseMs: 400 });
    const failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true } as const;
    const { operationId } = await node.perform(intake(), () =>
      Promise.resolve([{ kind: 'unknown', failure }]),
    );
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({
      status: 'in_progress',
    });
    await ended(operationId);
    expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({ status: 'success' });
    await node.close();
  });

  it('lists the operations of an installation newest first, page by page', async () => {
    const base = intake();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push((await operations.acceptQueued(base)).operationId);
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await operations.list(projectId, base.installationId, { pageSize: 2, pageToken });
      seen.push(...page.results.map((operation) => operation.id));
      pageToken = page.pagination.nextPageToken;
    } while (pageToken);
    expect(seen).toEqual(ids.toReversed());
    await expect(
      operations.list(projectId, base.installationId, { pageSize: 2, pageToken: 'rubbish' }),
    ).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('hides operations of other projects, other groups and none at all alike', async () => {
    const { operationId } = await operations.acceptQueued(intake());
    const hidden = { code: 'not-found' };
    await expect(operations.get(wholeProject(newId()), operationId)).rejects.toMatchObject(hidden);
    await expect(
      operations.get(confine({ projectId, groupRef: 'other' }), operationId),
    ).rejects.toMatchObject(hidden);
    await expect(
      operations.logs(confine({ projectId, groupRef: 'other' }), operationId),
    ).rejects.toMatchObject(hidden);
    await expect(operations.get(wholeProject(projectId), newId())).rejects.toMatchObject(hidden);
    await expect(operations.get(wholeProject(projectId), 'no id')).rejects.toMatchObject(hidden);
  });

  it('refuses alone the row that the database refuses, not those that arrived with it', async () => {
    const results = await Promise.allSettled([
      operations.acceptQueued(intake()),
      operations.acceptQueued(intake({ records: [{ text: '\0', fields: {} }], laneId: 'not a uuid' })),
      operations.acceptQueued(intake()),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('orders records of ids of any length', async () => {
    const orderKeys = [`installation/contacts/${randomBytes(6_000).toString('base64')}`];
    const laneId = newId();
    const accepted = await Promise.all([
      operations.acceptQueued(intake()),
      ...Array.from({ length: 3 }, () => operations.acceptQueued(intake({ orderKeys, laneId }))),
    ]);
    for (const { operationId } of accepted) {
      await ended(operationId);
      expect(await operations.get(wholeProject(projectId), operationId)).toMatchObject({ status: 'success' });
    }
  });

  it('refuses alone the row that is over a limit of the database', async () => {
    const principal = randomBytes(6_000).toString('base64');
    const results = await Promise.allSettled([
      operations.acceptQueued(intake()),
      operations.acceptQueued(intake({ key: { principal, key: 'k', hash: Buffer.alloc(32) } })),
      operations.acceptQueued(intake({ key: { principal: 'p', key: 'k', hash: Buffer.alloc(32) } })),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: '54000' } });
  });
});

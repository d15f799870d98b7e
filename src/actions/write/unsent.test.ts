import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wholeProject } from '../../events/index.ts';
import { freePort } from '../../../test/free-port.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { openDatabase, type Database } from '../../kit/db/database.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import type { RecordOutcome } from '../../providers/index.ts';
import { createAcceptor } from '../../operations/accept.ts';
import { clearLedger, count, groundOf, intake, projectId, until } from '../../operations/harness.fixture.ts';
import { type Node, createNode } from './harness.fixture.ts';
import { planRetry } from './retry.ts';

const leaseMs = 800;
const away = { code: 'database-unavailable', retryable: true };

describe('write/unsent', () => {
  let test: TestDatabase;
  let node: Node;
  /** Before each statement of this name. */
  let hinder: Record<string, () => Promise<void>> = {};
  let sends = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  beforeEach(() => {
    hinder = {};
    sends = 0;
    const database: Database = {
      ...test.database,
      rows: async (statement, values) => {
        await hinder[statement.name]?.();
        return test.database.rows<never>(statement, values);
      },
    };
    node = createNode(groundOf(database), { leaseMs });
  });
  afterEach(async () => {
    hinder = {};
    await node.close();
    await clearLedger(test.database);
    await test.database.raw('DELETE FROM idempotency');
  });
  afterAll(() => test.drop());

  const refuse = async (): Promise<void> => {
    throw problem('database-unavailable');
  };
  const write = (outcome: RecordOutcome = { kind: 'applied', recordId: '7' }) =>
    node.perform(
      intake({ key: { principal: 'key:1', key: 'k', hash: createHash('sha256').update('k').digest() } }),
      (_item, context) => {
        sends += 1;
        const over = { category: 'internal', retryable: true, message: 'the lease ended' } as const;
        return Promise.resolve([context.mayStillSend() ? outcome : { kind: 'notApplied', failure: over }]);
      },
      () => ({ status: 200, body: { first: true } }),
    );
  const leftOver = async () => ({
    operations: await count(test.database, 'operation'),
    keys: (await test.database.raw('SELECT key FROM idempotency')).length,
  });

  it('renews the lease of its lane before it accepts anything under what is left of it', async () => {
    await write();
    await clearLedgerKeys();
    // The server's clock was set back: its row of the lane says that the lease holds, and ours knows better.
    await test.database.raw(`UPDATE clock SET shift = '-1 hour'`);
    hinder = { lane_extend: refuse };
    await sleep(leaseMs);
    await expect(write()).rejects.toMatchObject(away);
    expect(sends).toBe(1);
    expect(await leftOver()).toEqual({ operations: 1, keys: 0 });
    hinder = {};
    expect(await write()).toMatchObject({ outcomes: [{ kind: 'applied' }], recorded: true });
  });

  it('takes an acceptance back that came too late to be sent, with its key', async () => {
    hinder = { ledger_accept: () => sleep(leaseMs), lane_extend: refuse };
    await test.database.raw(`UPDATE clock SET shift = '-1 hour'`);
    const late = write();
    await test.database.raw(`UPDATE clock SET shift = '-2 hours'`);
    await expect(late).rejects.toMatchObject(away);
    expect(sends).toBe(0);
    expect(await leftOver()).toEqual({ operations: 0, keys: 0 });
    hinder = {};
    expect(await write()).toMatchObject({ outcomes: [{ kind: 'applied' }], recorded: true });
  });

  it('keeps no answer under a key when the fault was ours and nothing was sent', async () => {
    const failure = { category: 'internal', retryable: true, message: 'the database refused it' } as const;
    await expect(write({ kind: 'notApplied', failure })).rejects.toMatchObject(away);
    expect(await leftOver()).toEqual({ operations: 0, keys: 0 });
    expect(await write()).toMatchObject({ outcomes: [{ kind: 'applied' }], recorded: true });
  });

  it('does not tell who has a key that nothing will be sent of what could not be taken back', async () => {
    const failure = { category: 'internal', retryable: true, message: 'the database refused it' } as const;
    hinder = { work_withdraw: refuse };
    await expect(write({ kind: 'notApplied', failure })).rejects.toMatchObject({
      ...away,
      message: expect.stringContaining('could not be taken back') as string,
    });
  });

  it('tells who has no key of the operation that could not be taken back, so that the record is not written twice', async () => {
    const failure = { category: 'internal', retryable: true, message: 'the database refused it' } as const;
    const without = (meanwhile: () => Promise<unknown>) =>
      node.perform(intake(), async () => {
        await meanwhile();
        return [{ kind: 'notApplied', failure }];
      });
    const open = { code: 'outcome-unknown', retryable: false };
    // Another node has taken the lane over and finds out about the write.
    const taken = () => test.database.raw('UPDATE work SET lease = gen_random_uuid() WHERE state = 1');
    const first = await without(taken).catch((error: unknown) => error);
    expect(first).toMatchObject(open);
    const [{ id } = {}] = await test.database.raw('SELECT id FROM operation');
    expect((first as Problem).details.extra).toMatchObject({ operationId: id });
    await clearLedger(test.database);
    hinder = { work_withdraw: refuse };
    await expect(without(async () => undefined)).rejects.toMatchObject(open);
    hinder = {};
    await clearLedger(test.database);
    await expect(without(async () => undefined)).rejects.toMatchObject(away);
    expect(await leftOver()).toEqual({ operations: 0, keys: 0 });
  });

  it('lets a write be made again that was not taken back, and whose caller was told to look', async () => {
    const failure = { category: 'internal', retryable: true, message: 'the database refused it' } as const;
    hinder = { work_withdraw: refuse };
    const open = await node
      .perform(intake(), async () => [{ kind: 'notApplied', failure }])
      .catch((error: unknown) => error as Problem);
    // As it is where it was taken back, and the answer to that was lost.
    const whereNotThere = expect.stringContaining('if not, nothing was accepted') as string;
    expect(open).toMatchObject({ code: 'outcome-unknown', details: { remedy: whereNotThere } });
    await until('it is ended', async () => (await count(test.database, 'work')) === 0);
    const [{ id } = {}] = await test.database.raw('SELECT id FROM operation');
    const written = await node.written(wholeProject(projectId), String(id));
    expect(written.operation).toMatchObject({ status: 'failure' });
    expect(JSON.stringify(written)).not.toContain('told to send it again');
    expect(planRetry(written)).toMatchObject({ records: [{}] });
  });

  it('tells everybody at once that no connection to the database can be had', async () => {
    const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const closed = openDatabase({ url, poolSize: 2, applicationName: 'test' });
    const acceptor = createAcceptor(closed);
    const startedAt = performance.now();
    const fates = await Promise.allSettled(
      Array.from({ length: 300 }, async () => acceptor.accept(intake(), null)),
    );
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    for (const fate of fates) expect(fate).toMatchObject({ status: 'rejected', reason: away });
    await closed.close();
  });

  async function clearLedgerKeys(): Promise<void> {
    await test.database.raw('DELETE FROM idempotency');
  }
});

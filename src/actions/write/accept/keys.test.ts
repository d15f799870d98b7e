import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { openDatabase, type Database } from '../../../kit/db/database.ts';
import { problem } from '../../../kit/problem.ts';
import { createAcceptor } from '../../../operations/accept.ts';
import { clearLedger, count, groundOf, intake, projectId } from '../../../operations/harness.fixture.ts';
import { type Node, createNode } from '../harness.fixture.ts';
import type { KeyClaim } from '../../../operations/index.ts';
import { replay } from './idempotency.ts';
import { forgetExpired } from '../../../operations/store/keys.ts';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('write/keys', () => {
  let test: TestDatabase;
  let other: Database;
  let nodes: [Node, Node];

  beforeAll(async () => {
    test = await createTestDatabase();
    other = openDatabase({ url: test.url, poolSize: 5, applicationName: 'svc test node' });
    nodes = [createNode(groundOf(test.database)), createNode(groundOf(other))];
  });
  beforeEach(() => clearLedger(test.database));
  afterEach(() => test.database.raw(`DELETE FROM idempotency WHERE principal <> 'ballast'`));
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await other.close();
    await test.drop();
  });

  const claim = (key: string, given: Partial<KeyClaim> = {}): KeyClaim => ({
    principal: 'key:k1',
    key,
    hash: hashOf('body'),
    ...given,
  });
  const queue = (key: KeyClaim, node = nodes[0], project = projectId) =>
    node.acceptQueued(intake({ key, projectId: project }));
  const write = (key: KeyClaim, node = nodes[0], status = 200) =>
    node.perform(
      intake({ key }),
      async () => [{ kind: 'applied', recordId: 'r1' }],
      (operationId) => ({ status, body: { operationId, text: 'a\u0000\ud83d\ude00' } }),
    );
  const shift = (interval: string) =>
    test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);

  it('makes one operation of fifty requests at once on two nodes', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, (_, n) => queue(claim('k'), nodes[n % 2])));
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(1);
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const table of ['operation', 'record', 'work', 'wake', 'idempotency'])
      expect([table, await count(test.database, table)]).toEqual([table, 1]);
  });

  it('keeps the keys of many requests apart, also within one group of the commit', async () => {
    const keys = Array.from({ length: 120 }, (_, n) => claim(`k${n % 60}`));
    const all = await Promise.all(keys.map((key, n) => queue(key, nodes[n % 2])));
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(60);
    for (const [n, { operationId }] of all.entries()) expect(operationId).toBe(all[n % 60]?.operationId);
    expect(await count(test.database, 'operation')).toBe(60);
  });

  it('refuses another request under the same key, and does nothing', async () => {
    const { operationId } = await queue(claim('k'));
    const changed = queue(claim('k', { hash: hashOf('other') }), nodes[1]);
    await expect(changed).rejects.toMatchObject({
      code: 'idempotency-key-reused',
      details: { extra: { operationId } },
    });
    expect(await count(test.database, 'operation')).toBe(1);
  });

  it('takes the same key of another caller or project for another one', async () => {
    await queue(claim('k'));
    const others = [
      await queue(claim('k', { principal: 'key:k2' })),
      await queue(claim('k', { principal: 'jwt:k1:acme', hash: hashOf('x') })),
      await queue(claim('k'), nodes[0], randomUUID()),
      await queue(claim('K')),
    ];
    for (const { replayed } of others) expect(replayed).toBeUndefined();
    expect(await count(test.database, 'operation')).toBe(5);
  });

  it('keeps a key for seven days by the clock of the database, then it is free again', async () => {
    const first = await queue(claim('k'));
    await shift('6 days 23 hours');
    expect(await queue(claim('k'))).toEqual({ ...first, replayed: true });
    await shift('2 hours');
    expect(await nodes[0].earlierUse(projectId, claim('k'))).toBeUndefined();
    const second = await queue(claim('k', { hash: hashOf('other') }));
    expect(second).toEqual({ operationId: expect.not.stringMatching(first.operationId) });
    const marked = await write(claim('m'));
    await shift('8 days');
    const again = await write(claim('m'));
    expect([marked.recorded, again.recorded, again.earlier]).toEqual([true, true, undefined]);
  });

  it('deletes old keys in portions, and none that still stands', async () => {
    for (let n = 0; n < 5; n++) await queue(claim(`k${n}`));
    await queue(claim('ours', { forever: true }));
    await shift('8 days');
    await queue(claim('young'));
    expect([await forgetExpired(test.database, 3), await forgetExpired(test.database, 3)]).toEqual([3, 2]);
    expect(await forgetExpired(test.database, 3)).toBe(0);
    expect(await count(test.database, 'idempotency')).toBe(2);
  });

  it('keeps the key and the operation in one transaction', async () => {
    await test.database.raw(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '23000'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON work FOR EACH ROW WHEN (NEW.prio = 3) EXECUTE FUNCTION fail()`);
    const lost = nodes[0].acceptQueued(intake({ key: claim('lost'), prio: 3 }));
    const [kept] = await Promise.all([queue(claim('kept')), expect(lost).rejects.toThrow('no')]);
    await test.database.raw('DROP FUNCTION fail CASCADE');
    const keys = await test.database.raw(
      `SELECT key, operation_id FROM idempotency WHERE principal <> 'ballast'`,
    );
    expect(keys).toEqual([{ key: 'kept', operation_id: kept.operationId }]);
    expect(await count(test.database, 'operation')).toBe(1);
    expect(await queue(claim('lost'))).not.toHaveProperty('replayed');
  });

  it('finds its own operation again when the answer to the commit is lost', async () => {
    let lose = true;
    const failing: Database = {
      ...test.database,
      rows: async (statement, values) => {
        const rows = await test.database.rows<never>(statement, values);
        if (statement.name !== 'ledger_accept' || !lose) return rows;
        lose = false;
        throw problem('database-unavailable');
      },
    };
    const accepted = await createAcceptor(failing).accept(intake({ key: claim('k') }), null);
    expect(lose).toBe(false);
    expect(accepted).toMatchObject({ operationId: expect.any(String) });
    expect(accepted?.earlier).toBeUndefined();
    expect(await queue(claim('k'))).toEqual({ operationId: accepted?.operationId, replayed: true });
  });

  it('keeps the answer of a synchronous write with its outcome; in flight there is none', async () => {
    let finish = (): void => undefined;
    const sent = new Promise<void>((started) => {
      const held = new Promise<void>((resolve) => (finish = resolve));
      void nodes[0]
        .perform(
          intake({ key: claim('slow') }),
          async () => {
            started();
            await held;
            return [{ kind: 'applied' }];
          },
          () => ({ status: 200, body: {} }),
        )
        .catch(() => undefined);
    });
    await sent;
    const meanwhile = await write(claim('slow'), nodes[1]);
    expect(meanwhile).toMatchObject({ recorded: false, outcomes: [], earlier: { ended: false } });
    expect(meanwhile.earlier).not.toHaveProperty('answer');
    finish();
    const first = await write(claim('k'));
    const second = await write(claim('k'), nodes[1]);
    expect(second.earlier).toEqual({
      operationId: first.operationId,
      ended: true,
      attempts: 1,
      request: { type: 'create' },
      answer: { status: 200, body: { operationId: first.operationId, text: 'a\u0000\ud83d\ude00' } },
    });
    expect(await count(test.database, 'operation')).toBe(2);
  });

  it('says that a write was accepted that was erased after its key was found', async () => {
    const { operationId } = await queue(claim('k'));
    const earlier = { operationId, ended: true, attempts: 1, request: {} };
    await clearLedger(test.database);
    await expect(
      replay(nodes[0], projectId, earlier, { requestId: 'r', mode: 'synchronous' }),
    ).rejects.toMatchObject({ code: 'operation-erased', details: { extra: { operationId } } });
  });

  it('answers again what was known of a write that is gone, and nothing that may be known otherwise since', async () => {
    for (const status of [200, 422, 429, 502, 504]) await write(claim(`was-${status}`), nodes[0], status);
    await clearLedger(test.database);
    for (const status of [200, 422])
      expect(await write(claim(`was-${status}`))).toMatchObject({ earlier: { answer: { status } } });
    for (const status of [429, 502, 504])
      await expect(write(claim(`was-${status}`))).rejects.toMatchObject({ code: 'operation-erased' });
  });

  it('asks the database nothing more for the first use of a key', async () => {
    const asked: string[] = [];
    const counting: Database = {
      ...test.database,
      rows: (statement, values) => {
        asked.push(statement.name);
        return test.database.rows(statement, values);
      },
    };
    await createAcceptor(counting).accept(intake({ key: claim('k') }), null);
    expect(asked).toEqual(['ledger_accept']);
  });
});

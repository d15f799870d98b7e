import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sleep } from '../../../kit/retry.ts';
import { openBehindWire, type BehindWire } from '../../../../test/behind-wire.ts';
import { openLateWay } from '../../../../test/late-way.ts';
import { count, intake } from '../../../operations/harness.fixture.ts';
import { createGatherer } from './accept.ts';

describe('actions/write/auto-batch/doubt', () => {
  let at: BehindWire;

  beforeAll(async () => {
    at = await openBehindWire();
  });
  afterAll(() => at.close());

  const gatherer = () => createGatherer(at.database);
  const places = async () => at.test.database.raw('SELECT slot FROM record WHERE entry IS NOT NULL');
  /** What it is told whose record is stored when the database goes away. */
  async function whenLost(work: () => Promise<unknown>): Promise<unknown> {
    at.wire.loseWay('ab_insert');
    const fate: unknown = await work().catch((error: unknown) => error);
    at.wire.heal();
    return fate;
  }

  const { records, orderKeys: _, ...shared } = intake();
  const write = { ...shared, record: records[0]!, orderKey: null, maxDelaySeconds: 60 };

  it('names the batch that a record may stand in, where no key finds it', async () => {
    const { operationId } = await gatherer().accept(write);
    const before = (await places()).length;
    expect(await whenLost(() => gatherer().accept(write))).toMatchObject({
      code: 'outcome-unknown',
      retryable: false,
      details: { extra: { operationId, category: 'unknownOutcome' } },
    });
    expect(await places()).toHaveLength(before + 1);
  }, 30_000);

  it('has one with a key repeated, which finds it', async () => {
    const { operationId } = await gatherer().accept(write);
    const before = (await places()).length;
    const keyed = { ...write, key: { principal: 'key:1', key: randomUUID(), hash: Buffer.alloc(32) } };
    expect(await whenLost(() => gatherer().accept(keyed))).toMatchObject({
      code: 'database-unavailable',
      retryable: true,
      message: expect.stringContaining('not known whether the write was accepted') as string,
    });
    expect(await gatherer().accept(keyed)).toMatchObject({ operationId, replayed: true });
    expect(await places()).toHaveLength(before + 1);
  }, 30_000);

  it('stores nothing by a statement that arrives when its caller was told that nothing is there any more', async () => {
    const way = openLateWay(at.test.database);
    const gathering = createGatherer(way.database);
    await gathering.accept(write);
    const left = ['record', 'ab_turn', 'wake', 'idempotency'];
    const counts = () => Promise.all(left.map((table) => count(at.test.database, table)));
    const before = await counts();
    way.holdUp(/^ab_insert/);
    const change = { ...write, orderKey: `i/contacts/${randomUUID()}` };
    const keyed = { ...write, key: { principal: 'key:1', key: randomUUID(), hash: Buffer.alloc(32) } };
    const [fate] = await Promise.allSettled([gathering.accept(change), gathering.accept(keyed)]);
    expect(fate).toMatchObject({ reason: { code: 'outcome-unknown' } });
    expect(await way.letArrive()).toBeGreaterThan(0);
    expect(await counts()).toEqual(before);
  }, 30_000);

  it('does not store a change again whose first commit is still on its way, when what came after keeps the second out', async () => {
    const held = {
      ...write,
      orderKey: `i/contacts/${randomUUID()}`,
      record: { ...records[0], note: 'held' },
    };
    await at.test.database.raw(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(47); RETURN NEW; END $$`);
    await at.test.database.raw(`CREATE TRIGGER held BEFORE INSERT ON record FOR EACH ROW
      WHEN (NEW.payload ->> 'note' = 'held') EXECUTE FUNCTION hold()`);
    const key = new Client({ connectionString: at.test.url });
    await key.connect();
    await key.query('SELECT pg_advisory_lock(47)');
    const waiting = async (): Promise<number> => {
      const [row] = await at.test.database.raw(
        `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND objid = 47 AND NOT granted`,
      );
      return Number(row?.['n']);
    };
    const first: Promise<unknown> = gatherer()
      .accept(held)
      .catch((error: unknown) => error);
    await vi.waitUntil(async () => (await waiting()) === 1, { timeout: 5_000 });
    const other = {
      ...held,
      record: { ...records[0] },
      request: { ...held.request, headers: [{ key: 'x-a', value: 'b' }] },
    };
    await createGatherer(at.test.database).accept(other);
    at.wire.cut('refuse');
    at.wire.heal();
    const fate = await Promise.race([first, sleep(4_000)]);
    await key.end();
    await first;
    const stored = `SELECT slot FROM record WHERE payload ->> 'note' = 'held'`;
    await vi.waitUntil(async () => (await at.test.database.raw(stored)).length > 0, { timeout: 5_000 });
    await sleep(300);
    expect(await at.test.database.raw(stored)).toHaveLength(1);
    expect(fate).toMatchObject({ code: 'outcome-unknown', retryable: false });
  }, 30_000);
});

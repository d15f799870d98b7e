import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingMessage } from '../kind.ts';
import { messageOf, openWarehouse, type Entry, type Warehouse } from './harness.fixture.ts';
import { createPostgres } from './index.ts';

const delivered = { kind: 'delivered' };

describe('src/deliveries/postgres, what is lost, late or twice', () => {
  let warehouse: Warehouse;
  const nodes = [createPostgres({ timeoutMs: 10_000 }), createPostgres({ timeoutMs: 10_000 })];

  beforeAll(async () => {
    warehouse = await openWarehouse();
    // The isolation that makes the most statements fail is the server's own choice.
    await warehouse.rows(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$`,
    );
  });
  beforeEach(async () => {
    await warehouse.rows('DROP SCHEMA crm CASCADE; CREATE SCHEMA crm');
  });
  afterAll(async () => {
    for (const node of nodes) await node.close?.();
    await warehouse.close();
  });

  const sendBy = (node: number, message: OutgoingMessage) => warehouse.send(nodes[node]!, message);

  it('a commit whose answer is lost is told as a failure, and made again without a change', async () => {
    const message = messageOf([{ mapped: { name: 'Ann' } }]);
    expect(await sendBy(0, messageOf([{ id: '0', mapped: { name: 'first' } }]))).toEqual(delivered);
    await warehouse.rows('CREATE TABLE crm.changes (n int)');
    await warehouse.rows(
      'CREATE FUNCTION crm.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO crm.changes VALUES (1); RETURN NEW; END $$',
    );
    await warehouse.rows(
      'CREATE TRIGGER note AFTER INSERT OR UPDATE ON crm.people FOR EACH ROW EXECUTE FUNCTION crm.note()',
    );
    const fresh = createPostgres();
    warehouse.wire.loseCommit();
    expect(await warehouse.send(fresh, message)).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/connection to 127\.0\.0\.1:\d+ was lost/) as string,
    });
    expect(await warehouse.rows('SELECT count(*)::int AS n FROM crm.changes')).toEqual([{ n: 1 }]);
    expect(await sendBy(1, { ...message, attempt: 2 })).toEqual(delivered);
    expect(await warehouse.rows('SELECT count(*)::int AS n FROM crm.changes')).toEqual([{ n: 1 }]);
    await fresh.close?.();
  });

  it('connections that were lost at rest cost no attempt', async () => {
    await Promise.all([1, 2, 3].map((id) => sendBy(0, messageOf([{ id: String(id) }]))));
    warehouse.wire.cut('refuse');
    warehouse.wire.heal();
    const again = await Promise.all([4, 5, 6].map((id) => sendBy(0, messageOf([{ id: String(id) }]))));
    expect(again).toEqual([delivered, delivered, delivered]);
  });

  it('has few connections to one database, and keeps them for the next message', async () => {
    const node = createPostgres();
    const before = warehouse.wire.count();
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_one, id) => warehouse.send(node, messageOf([{ id: String(id) }]))),
    );
    expect(sent).toEqual(sent.map(() => delivered));
    expect(warehouse.wire.count() - before).toBe(4);
    await node.close?.();
  });

  it('ends its connections when it is closed', async () => {
    const node = createPostgres();
    await warehouse.send(node, messageOf([{}]));
    const open = async (): Promise<unknown> =>
      (
        await warehouse.rows(
          `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc'`,
        )
      )[0]?.['n'];
    const before = Number(await open());
    await node.close?.();
    await expect.poll(open).toBe(before - 1);
  });

  /** What a column holds of a value, whatever type it has by now. */
  const shown = (value: unknown): string | null =>
    typeof value === 'string' ? value : JSON.stringify(value ?? null);

  const fields = ['a', 'b', 'c'];
  const value = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('x', 'y'),
    fc.constant({ z: 1 }),
    fc.constant(null),
  );
  const entry = fc.record({
    id: fc.constantFrom('1', '2', '3', '4'),
    version: fc.oneof(
      fc.integer({ min: 0, max: 5 }).map((at) => new Date(at * 1_000).toISOString()),
      fc.constantFrom('0', 'hash'),
    ),
    deleted: fc.boolean(),
    mapped: fc.dictionary(fc.constantFrom(...fields), value),
  });
  const history = fc.record({
    messages: fc.array(fc.array(entry, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
    /** Which message, by which node; each message comes at least once. */
    order: fc.array(fc.tuple(fc.nat(7), fc.nat(1)), { maxLength: 20 }),
  });

  /** The newest of each record, told by a plain comparison of all that was said of it. */
  function newestOf(messages: readonly (readonly Entry[])[]): Map<string, Entry> {
    const newest = new Map<string, { at: [string, number, number]; entry: Entry }>();
    const isLess = (one: readonly (string | number)[], other: readonly (string | number)[]): boolean => {
      const at = one.findIndex((part, index) => part !== other[index]);
      return at >= 0 && one[at]! < other[at]!;
    };
    messages.forEach((entries, seq) =>
      entries.forEach((one, place) => {
        const version = one.version?.includes('T') ? one.version : '';
        const at: [string, number, number] = [version, seq, place];
        const known = newest.get(one.id ?? '');
        if (!known || isLess(known.at, at)) newest.set(one.id ?? '', { at, entry: one });
      }),
    );
    return new Map([...newest].map(([id, { entry: last }]) => [id, last]));
  }

  it('ends with the newest of each record, in whatever order two nodes send what', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ messages, order }) => {
        await warehouse.rows('DROP TABLE IF EXISTS crm.people');
        const made = messages.map((entries, seq) => messageOf(entries, { seq: String(seq) }));
        const all = [
          ...order.filter(([at]) => at < made.length),
          ...made.map((_one, at): [number, number] => [made.length - 1 - at, at % 2]),
        ];
        const sent = await Promise.all(all.map(([at, node]) => sendBy(node, made[at]!)));
        expect(sent).toEqual(sent.map(() => delivered));
        const newest = newestOf(messages);
        const rows = await warehouse.rows('SELECT * FROM crm.people');
        expect(rows.map((row) => String(row['record_id'])).toSorted()).toEqual([...newest.keys()].toSorted());
        for (const row of rows) {
          const { deleted, mapped = {} } = newest.get(String(row['record_id']))!;
          expect(row['_svc_deleted']).toBe(deleted);
          // A deletion empties nothing.
          for (const name of fields.filter((one) => !deleted || (mapped[one] ?? null) !== null))
            expect([name, shown(row[name])]).toEqual([name, shown(mapped[name])]);
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});

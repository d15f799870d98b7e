import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivered } from '../kind.ts';
import { firstVersion, messageOf, openWarehouse, type Entry, type Warehouse } from './harness.fixture.ts';
import { createPostgres } from './index.ts';

const delivered = { kind: 'delivered' };
const later = '2026-01-02T00:00:00.000Z';

describe('src/deliveries/postgres, the tables', () => {
  let warehouse: Warehouse;
  const kind = createPostgres();

  beforeAll(async () => {
    warehouse = await openWarehouse();
  });
  beforeEach(async () => {
    await warehouse.rows('DROP SCHEMA crm CASCADE; CREATE SCHEMA crm');
  });
  afterAll(async () => {
    await kind.close?.();
    await warehouse.close();
  });

  const send = (entries: readonly Entry[], over = {}): Promise<Delivered> =>
    warehouse.send(kind, messageOf(entries, over));
  const keep = async (entries: readonly Entry[], over = {}): Promise<void> =>
    expect(await send(entries, over)).toEqual(delivered);
  const rows = (text: string): Promise<Record<string, unknown>[]> => warehouse.rows(text);
  const values = async (column: string): Promise<unknown[]> =>
    (await rows(`SELECT ${column} AS v FROM crm.people ORDER BY record_id`)).map(({ v }) => v);
  const typesOf = async (table = 'people'): Promise<Record<string, string>> =>
    Object.fromEntries(
      (
        await rows(
          `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = 'crm' AND table_name = '${table}'`,
        )
      ).map(({ name, type }) => [String(name), String(type)]),
    );

  it('has a row for each record with what is known of it', async () => {
    const mapped = {
      email: 'a@b.co',
      age: 41,
      vip: true,
      address: { city: 'Bonn' },
      tags: ['a'],
      gone: null,
    };
    const message = messageOf([{ id: '7', mapped, fields: { x: '1' }, raw: { id: 7 } }], { seq: '12' });
    expect(await warehouse.send(kind, message)).toEqual(delivered);
    const [row] = await rows('SELECT * FROM crm.people');
    expect(row).toEqual({
      installation_id: message.installationId,
      record_id: '7',
      _svc_version: firstVersion,
      _svc_seq: '12',
      _svc_deleted: false,
      _svc_group_ref: 'acme',
      _svc_synced_at: expect.any(Date) as Date,
      fields: { x: '1' },
      associations: null,
      raw: { id: 7 },
      email: 'a@b.co',
      age: '41',
      vip: true,
      address: { city: 'Bonn' },
      tags: ['a'],
      gone: null,
    });
    expect(await typesOf()).toMatchObject({
      email: 'text',
      age: 'numeric',
      vip: 'boolean',
      address: 'jsonb',
    });
  });

  it('keeps installations, objects and prefixes apart', async () => {
    await keep([{ mapped: { name: 'one' } }]);
    await keep([{ mapped: { name: 'other' } }], { installationId: '0190a000-0000-7000-8000-00000000000b' });
    await keep([{ mapped: { name: 'firm' } }], { object: 'companies' });
    expect(await warehouse.send(kind, messageOf([{}]), { tablePrefix: 'hub_' })).toEqual(delivered);
    expect(await rows('SELECT name FROM crm.people ORDER BY 1')).toEqual([
      { name: 'one' },
      { name: 'other' },
    ]);
    expect(await rows('SELECT name FROM crm.companies')).toEqual([{ name: 'firm' }]);
    expect(await rows('SELECT record_id FROM crm.hub_people')).toEqual([{ record_id: '1' }]);
  });

  it('keeps the digits of numbers', async () => {
    const raw = '{"n": [12345678901234567890.123456789, 1.50, 1e400, -0.0]}';
    await keep([{ json: `{"mappedFields": {"n": 12345678901234567890.10}, "raw": ${raw}}` }]);
    expect(await rows('SELECT n::text, raw::text FROM crm.people')).toEqual([
      {
        n: '12345678901234567890.10',
        raw: expect.stringContaining('12345678901234567890.123456789, 1.50') as string,
      },
    ]);
  });

  it('widens a column that it made, and never narrows it', async () => {
    await keep([{ id: '1', mapped: { a: 1.5, b: true, c: 2, d: 'x' } }]);
    await keep([{ id: '2', mapped: { a: 'text', b: 7, c: { deep: 1 }, d: { in: 'text' } } }]);
    expect(await typesOf()).toMatchObject({ a: 'text', b: 'text', c: 'jsonb', d: 'text' });
    await keep([{ id: '3', mapped: { a: 3, b: false, c: 'word', d: 4.25 } }]);
    expect(await typesOf()).toMatchObject({ a: 'text', b: 'text', c: 'jsonb', d: 'text' });
    expect(await values('a')).toEqual(['1.5', 'text', '3']);
    expect(await values('b')).toEqual(['true', '7', 'false']);
    expect(await values('c')).toEqual([2, { deep: 1 }, 'word']);
    expect(await values('d')).toEqual(['x', '{"in":"text"}', '4.25']);
  });

  it('has a column for each mapped field before a record has it, and its type with the first value', async () => {
    const mappedFields = async (): Promise<string[]> => ['name', 'age', 'vip', 'note'];
    await keep([{ deleted: true, json: '{"id":"1","deleted":true}' }], { mappedFields });
    const bare = { name: 'text', age: 'text', vip: 'text', note: 'text' };
    expect(await typesOf()).toMatchObject(bare);
    await keep([{ id: '2', mapped: { name: null } }], { mappedFields });
    expect(await typesOf()).toMatchObject(bare);
    await keep([{ id: '3', mapped: { name: 'Ann', age: 41, vip: true } }], { mappedFields });
    expect(await typesOf()).toMatchObject({ name: 'text', age: 'numeric', vip: 'boolean', note: 'text' });
    expect(await values('age')).toEqual([null, null, '41']);
    await keep([{ id: '4', mapped: { name: 7 } }], { mappedFields });
    expect(await values('name')).toEqual([null, null, 'Ann', '7']);
  });

  it('leaves a column without a value as it is where a view holds it, or somebody wrote there', async () => {
    const mappedFields = async (): Promise<string[]> => ['age', 'score'];
    await keep([{ id: '1' }], { mappedFields });
    await rows(`CREATE VIEW crm.ages AS SELECT record_id, age FROM crm.people`);
    await rows(`UPDATE crm.people SET score = 'mine'`);
    await keep([{ id: '2', mapped: { age: 41, score: 3 } }], { mappedFields });
    expect(await typesOf()).toMatchObject({ age: 'text', score: 'text' });
    expect(await rows('SELECT age FROM crm.ages ORDER BY record_id')).toEqual([{ age: null }, { age: '41' }]);
    expect(await values('score')).toEqual(['mine', '3']);
  });

  it('keeps the newest version, whatever comes last', async () => {
    await keep([{ version: later, mapped: { name: 'new' } }], { seq: '5' });
    await keep([{ version: firstVersion, mapped: { name: 'old' } }], { seq: '6' });
    await keep([{ version: '2026-01-02T01:00:00+02:00', mapped: { name: 'older in another zone' } }], {
      seq: '7',
    });
    expect(await values('name')).toEqual(['new']);
    await keep([{ version: later, mapped: { name: 'the same time, later' } }], { seq: '8' });
    expect(await values('name')).toEqual(['the same time, later']);
  });

  it('takes the message accepted last where versions are no times', async () => {
    await keep([{ version: 'zzz', mapped: { name: 'first' } }], { seq: '9' });
    await keep([{ version: 'aaa', mapped: { name: 'second' } }], { seq: '10' });
    await keep([{ version: 'zzz', mapped: { name: 'first' } }], { seq: '9' });
    expect(await values('name')).toEqual(['second']);
  });

  it('takes the newest of a record that stands in a message more than once', async () => {
    await keep([
      { version: later, mapped: { name: 'new' } },
      { version: firstVersion, mapped: { name: 'old' } },
      { id: '2', mapped: { name: 'a' } },
      { id: '2', mapped: { name: 'b' } },
    ]);
    expect(await values('name')).toEqual(['new', 'b']);
  });

  it('keeps the row of a deleted record, and an older version does not bring it back', async () => {
    await keep([{ mapped: { name: 'Ann' } }]);
    await keep([{ version: later, deleted: true, json: '{"id":"1","deleted":true,"raw":{"left":1}}' }]);
    await keep([{ version: '2026-01-01T12:00:00Z', mapped: { name: 'Anna' } }]);
    expect(await rows('SELECT name, raw, fields, _svc_deleted AS gone FROM crm.people')).toEqual([
      { name: 'Ann', raw: { left: 1 }, fields: {}, gone: true },
    ]);
  });

  it('changes nothing when a message comes twice', async () => {
    const message = messageOf([{ mapped: { name: 'Ann' } }, { id: '2' }]);
    await warehouse.send(kind, message);
    const before = await rows('SELECT p.xmin::text AS change, p.* FROM crm.people p ORDER BY record_id');
    expect(await warehouse.send(kind, { ...message, attempt: 2, replay: true })).toEqual(delivered);
    expect(await rows('SELECT p.xmin::text AS change, p.* FROM crm.people p ORDER BY record_id')).toEqual(
      before,
    );
  });

  it('empties the columns that a record has no longer, and leaves those of the customer', async () => {
    await keep([{ mapped: { name: 'Ann', phone: '1' } }]);
    await rows(`ALTER TABLE crm.people ADD COLUMN note text; UPDATE crm.people SET note = 'mine'`);
    await keep([{ version: later, mapped: { name: 'Anna' } }]);
    expect(await rows('SELECT name, phone, note FROM crm.people')).toEqual([
      { name: 'Anna', phone: null, note: 'mine' },
    ]);
  });

  it('writes more records than one statement takes', async () => {
    const entries = Array.from({ length: 1_203 }, (_one, at) => ({ id: String(at), mapped: { at } }));
    await keep(entries);
    expect(await rows('SELECT count(*)::int AS n, sum(at)::int AS sum FROM crm.people')).toEqual([
      { n: 1_203, sum: (1_203 * 1_202) / 2 },
    ]);
  });

  it('has room for many columns', async () => {
    const mapped = Object.fromEntries(Array.from({ length: 600 }, (_one, at) => [`field ${at}`, at]));
    await keep([{ mapped }]);
    expect(Object.keys(await typesOf())).toHaveLength(610);
  });

  const hostile = [
    'a"b',
    "a'; DROP SCHEMA crm CASCADE; --",
    'select',
    '$1',
    'a\\b',
    '😀'.repeat(40),
    'nul\0nul',
    'half \ud800',
    'record_id',
    '_svc_seq',
    'ctid',
    '__proto__',
    ' ',
    '',
  ];
  it('takes any name for a field', async () => {
    const mapped = Object.fromEntries(hostile.map((name, at) => [name, at]));
    Object.defineProperty(mapped, '__proto__', { value: 'own', enumerable: true });
    await keep([{ mapped }]);
    await keep([{ version: later, mapped }]);
    const [row = {}] = await rows('SELECT * FROM crm.people');
    expect(Object.keys(row)).toHaveLength(10 + hostile.length);
    expect(row['__proto__']).toBe('own');
  });

  it.each(hostile)('takes the object %j', async (object) => {
    await keep([{ mapped: { name: 'Ann' } }], { object });
    const [table] = await rows(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'crm'`);
    const quoted = `"${String(table?.['name']).replaceAll('"', '""')}"`;
    expect(await rows(`SELECT name FROM crm.${quoted}`)).toEqual([{ name: 'Ann' }]);
  });

  it('takes values that PostgreSQL cannot hold as near as it can', async () => {
    const texts = String.raw`"a\u0000b", "half \ud83d", "whole \ud83d\ude00", "not \\u0000"`;
    const digits = '9'.repeat(2_000);
    const raw = `{"k\\u0000": [${texts}], "n": [1e200000, 1e-200000, ${digits}]}`;
    await keep([{ id: 'a\0', json: `{"mappedFields": {"t": "a\\u0000", "n": 1e200000}, "raw": ${raw}}` }]);
    expect(await rows('SELECT record_id, t, n, raw FROM crm.people')).toEqual([
      {
        record_id: 'a\ufffd',
        t: 'a\ufffd',
        n: '1e200000',
        raw: {
          'k\ufffd': ['a\ufffdb', 'half \ufffd', 'whole 😀', 'not \\u0000'],
          n: ['1e200000', '1e-200000', digits],
        },
      },
    ]);
  });

  it('makes one table when two nodes begin at once, and all columns', async () => {
    const nodes = [createPostgres(), createPostgres()];
    const sent = await Promise.all(
      Array.from({ length: 24 }, (_one, at) =>
        warehouse.send(nodes[at % 2]!, messageOf([{ id: String(at), mapped: { [`c${at % 6}`]: at } }])),
      ),
    );
    expect(sent).toEqual(sent.map(() => delivered));
    expect(await rows('SELECT count(*)::int AS n FROM crm.people')).toEqual([{ n: 24 }]);
    expect(Object.keys(await typesOf()).filter((name) => /^c\d$/.test(name))).toHaveLength(6);
    for (const node of nodes) await node.close?.();
  });
});

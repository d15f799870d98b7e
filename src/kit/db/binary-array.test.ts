import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { byteaArray, textArray } from './binary-array.ts';
import { statement } from './statement.ts';

const readTexts = statement(
  'test_binary_array_of_texts',
  'SELECT item FROM unnest($1::text[]) WITH ORDINALITY AS i(item, n) ORDER BY n',
);
const read = statement(
  'test_binary_array',
  'SELECT n::int AS n, item FROM unnest($1::bytea[]) WITH ORDINALITY AS i(item, n)',
);

describe('kit/db/binary-array', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const cases: [string, (Buffer | null)[]][] = [
    ['no element', []],
    ['one', [Buffer.from('a')]],
    ['empty ones and NULL', [Buffer.alloc(0), null, Buffer.from([0, 255, 34, 92])]],
    ['large ones', [randomBytes(1_000_000), randomBytes(3)]],
  ];
  for (const [name, items] of cases) {
    it(`PostgreSQL reads ${name} as it was sent`, async () => {
      const rows = await test.database.rows<{ item: Buffer | null }>(read, [byteaArray(items)]);
      expect(rows.map(({ item }) => item?.toString('hex'))).toEqual(
        items.map((item) => item?.toString('hex')),
      );
    });
  }

  it('PostgreSQL reads texts as they were sent', async () => {
    const items = ['', null, '"\\{},\n', 'NULL', 'ü😀'];
    const rows = await test.database.rows<{ item: string | null }>(readTexts, [textArray(items)]);
    expect(rows.map(({ item }) => item)).toEqual(items);
  });
});

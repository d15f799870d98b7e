import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { parameter } from './array-text.ts';
import { statement } from './statement.ts';

const read = statement(
  'test_array_text',
  `SELECT ARRAY(SELECT t FROM unnest($1::text[]) WITH ORDINALITY AS i(t, n) ORDER BY n) AS texts, $2::float8[] AS numbers,
    $3::boolean[] AS truths, $4::json[] AS documents`,
);
const text = fc.string({ unit: 'binary', maxLength: 20 }).map((value) => value.replaceAll('\0', ''));
const odd = fc.constantFrom(
  '',
  'NULL',
  'null',
  '{}',
  '\\',
  '"',
  '\\"',
  '\\n',
  '\n',
  'a,b',
  ' ',
  '\u2028',
  '\x7f',
  'ü😀',
);
const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[]> =>
  fc.array(fc.option(value), { maxLength: 8 });

describe('kit/db/array-text', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('PostgreSQL reads every array as it was sent', async () => {
    const lists = fc.record({
      texts: orNull(fc.oneof(text, odd)),
      numbers: orNull(fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value))),
      truths: orNull(fc.boolean()),
      documents: orNull(fc.oneof(text, odd).map((value) => ({ value }))),
    });
    await fc.assert(
      fc.asyncProperty(lists, async (sent) => {
        const documents = sent.documents.map((value) => value && JSON.stringify(value));
        const [row] = await test.database.rows(read, [sent.texts, sent.numbers, sent.truths, documents]);
        expect(row).toEqual(sent);
      }),
      { numRuns: 300 },
    );
  });

  it('writes an array of scalars at once and leaves others to the driver', () => {
    expect(parameter(['a"\\', 1, true, null, undefined])).toBe(String.raw`{"a\"\\",1,true,null,null}`);
    expect(parameter([])).toBe('{}');
    for (const left of [['\n'], ['\ud800'], [Number.NaN], [new Date(0)], [['a']], [{}], 'text', 1, null])
      expect(parameter(left)).toBe(left);
  });
});

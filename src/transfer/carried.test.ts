import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { carriedColumns, portableDeclarations } from '../kit/db/portable.ts';
import './index.ts';
import { fileVersion } from './schema.ts';

/** Of the columns that files of a version hold; an older server would leave out a new one without a word. */
const digests: Record<number, string> = {
  1: 'f978ade99af216d5a0feaa0f2a70374f0a01a58270560c1bd9edf332f783a79a',
  2: '5952ee187d38b715236c157782f9bbd00e6da31b230b09a926cf707eb7cca985',
  3: '42f0ecef14ebb2683276ed3b76a8817d2dd187bc51942664e81b6d7a4b88efbe',
};

describe('transfer/carried', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test?.drop());

  it('every column of what is carried goes along, or says why it stays behind', async () => {
    const rows = await test.database.raw(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const unsaid = portableDeclarations.flatMap((declared) => {
      const known = new Set([
        'project_id',
        ...carriedColumns(declared),
        ...Object.keys(declared.left ?? {}),
        declared.sealed?.column,
      ]);
      return rows.flatMap(({ table, column }) =>
        table === declared.table && !known.has(String(column)) ? [`${declared.table}.${String(column)}`] : [],
      );
    });
    expect(portableDeclarations.length).toBeGreaterThan(10);
    expect(unsaid).toEqual([]);
  });

  it('the version of the file goes up with its columns', () => {
    const columns = portableDeclarations.map((declared) =>
      [declared.kind].concat(carriedColumns(declared), declared.sealed?.column ?? ''),
    );
    expect(createHash('sha256').update(JSON.stringify(columns)).digest('hex')).toBe(digests[fileVersion]);
  });
});

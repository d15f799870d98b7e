import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { createGroupCommit } from '../group-commit.ts';
import type { Queryable } from './database.ts';
import { noting } from './deeds.ts';

describe('src/kit/db/deeds', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw('CREATE TABLE done (id int PRIMARY KEY)');
    await test.database.raw('INSERT INTO done VALUES (0)');
  });
  afterAll(() => test.drop());

  const insert = { name: 'deeds_insert', text: 'INSERT INTO done SELECT max(id) + 1 FROM done' };
  const inside = {
    name: 'deeds_inside',
    text: 'WITH made AS (INSERT INTO done SELECT max(id) + 1 FROM done RETURNING id) UPDATE done SET id = 1 WHERE id < 0',
  };
  const note = { ...insert, name: 'deeds_note', isNote: true };
  const none = { name: 'deeds_none', text: 'UPDATE done SET id = 1 WHERE id < 0' };
  const lock = { name: 'deeds_lock', text: 'SELECT FROM done FOR NO KEY UPDATE' };
  const group = createGroupCommit<number, void>({
    maxGroup: 1,
    bisectOn: () => false,
    commit: async (items) => {
      await test.database.rows(insert);
      return items.map(() => undefined);
    },
  });
  const within = (work: (tx: Queryable) => Promise<unknown>) => test.database.transaction(work);
  const failing = async (tx: Queryable): Promise<void> => {
    await tx.rows(insert);
    throw new Error('no');
  };

  it.each<[isDone: boolean, what: string, work: () => Promise<unknown>]>([
    [true, 'a change by itself', () => test.database.rows(insert)],
    [true, 'a change inside another that finds no row', () => test.database.rows(inside)],
    [false, 'a change that finds no row', () => test.database.rows(none)],
    [false, 'a note', () => test.database.rows(note)],
    [true, 'a transaction that is committed', () => within((tx) => tx.rows(insert))],
    [false, 'one that locks rows', () => within((tx) => tx.rows(lock))],
    [false, 'one that is rolled back', () => within(failing).catch(() => undefined)],
    [false, 'what is committed for many at once', () => group.submit(1)],
  ])('is %s that a request has done %s', async (isDone, _what, work) => {
    const deeds = { isDone: false };
    await noting(deeds, work);
    expect(deeds.isDone).toBe(isDone);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { newId } from '../kit/ids.ts';
import { eraseCustomers } from './erase-store.ts';
import { saveOwner } from './owner-store.ts';

const insertConnection = statement(
  'test_connection',
  `INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials)
   VALUES ($1, $2, 'hubspot', $3, $4, 'apiKey', 'working', '')`,
);

describe('connections/erase', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const connect = (projectId: string, groupRef: string, consumerRef: string, db: Queryable = test.database) =>
    db.rows(insertConnection, [projectId, newId(), groupRef, consumerRef]);
  const name = (projectId: string, groupRef: string, consumerRef: string) =>
    test.database.transaction((tx) =>
      saveOwner(
        tx,
        projectId,
        { groupRef, groupName: `Group ${groupRef}`, consumerRef, consumerName: `Person ${consumerRef}` },
        { mayRename: true },
      ),
    );
  const erase = (projectId: string, groupRef: string | null, limit = 100) =>
    test.database.transaction((tx) =>
      eraseCustomers(tx, { projectId, groupRef, after: newId(), until: newId() }, limit),
    );
  const names = async (projectId: string): Promise<unknown[]> => {
    const rows = await test.database.raw(
      `SELECT name FROM customer_group WHERE project_id = $1 UNION ALL
       SELECT name FROM group_consumer WHERE project_id = $1 UNION ALL
       SELECT name FROM consumer WHERE project_id = $1 AND name <> consumer_ref ORDER BY 1`,
      [projectId],
    );
    return rows.map((row) => row['name']);
  };

  it('removes the names of those without a connection, of the group that was named alone', async () => {
    const projectId = newId();
    await name(projectId, 'kept', 'ann');
    await connect(projectId, 'kept', 'ann');
    await name(projectId, 'kept', 'bob');
    await name(projectId, 'gone', 'cid');
    await name(projectId, 'other', 'dot');
    expect((await erase(projectId, 'gone')).removed).toBe(2);
    expect(await names(projectId)).toEqual([
      'Group kept',
      'Group other',
      'Person ann',
      'Person bob',
      'Person dot',
    ]);
    expect((await erase(projectId, 'kept')).removed).toBe(1);
    expect((await erase(projectId, null)).removed).toBe(2);
    expect(await names(projectId)).toEqual(['Group kept', 'Person ann']);
  });

  it('removes all of many, and what a release before wrote', async () => {
    const projectId = newId();
    for (let index = 0; index < 5; index += 1) await name(projectId, `g${index}`, 'eve');
    await test.database.raw(
      `INSERT INTO consumer (project_id, consumer_ref, name) VALUES ($1, 'old', 'Old')`,
      [projectId],
    );
    let step = await erase(projectId, null, 2);
    expect(step.scanned).toBe(2);
    while (step.scanned === 2) step = await erase(projectId, null, 2);
    expect(await names(projectId)).toEqual([]);
  });

  it('tells of a group that there is not that nothing was removed, also where others are gone', async () => {
    const projectId = newId();
    await connect(projectId, 'gone', 'ann');
    await test.database.raw('DELETE FROM connection WHERE project_id = $1', [projectId]);
    expect((await erase(projectId, 'nobody')).removed).toBe(0);
  });

  it('leaves the names of who connects meanwhile', async () => {
    const projectId = newId();
    await name(projectId, 'acme', 'ann');
    await test.database.transaction(async (tx) => {
      const owner = { groupRef: 'acme', consumerRef: 'ann' };
      await saveOwner(tx, projectId, owner, { mayRename: true });
      expect((await erase(projectId, 'acme')).removed).toBe(0);
      await connect(projectId, 'acme', 'ann', tx);
    });
    expect((await erase(projectId, 'acme')).removed).toBe(0);
    expect(await names(projectId)).toEqual(['Group acme', 'Person ann']);
  });
});

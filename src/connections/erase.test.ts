import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { newId } from '../kit/ids.ts';
import { createVault, generateMasterKey, parseMasterKeys } from '../kit/vault.ts';
import { eraseCustomers } from './erase-store.ts';
import { isOpenFlow, saveFlow } from './oauth/flow-store.ts';
import { newState } from './oauth/state.ts';
import { saveOwner } from './owner-store.ts';
import { portableConnections } from './portable-store.ts';

const insertConnection = statement(
  'test_connection',
  `INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, credentials)
   VALUES ($1, $2, 'hubspot', $3, $4, 'apiKey', 'working', '')`,
);

describe('connections/erase', () => {
  const vault = createVault(parseMasterKeys(generateMasterKey('k1')));
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
  /** The time of the database. */
  const now = async (): Promise<string> => {
    const [row] = await test.database.raw('SELECT svc_now()::text AS at');
    return String(row?.['at']);
  };
  const erase = async (projectId: string, groupRef: string | null, limit = 100, asked?: string) => {
    const askedAt = asked ?? (await now());
    return test.database.transaction((tx) =>
      eraseCustomers(tx, { projectId, groupRef, after: newId(), until: newId(), askedAt }, limit),
    );
  };
  const flow = {
    provider: 'hubspot',
    providerAppId: 'app',
    consumerRef: 'ann',
    providerMetadata: {},
    scopes: [],
  };
  const begin = async (projectId: string, groupRef: string): Promise<string> => {
    const state = newState();
    const request = { ...flow, groupRef, authorizeUrl: 'https://app.example' };
    await saveFlow(test.database, vault, state, { projectId, request, verifier: 'v' });
    return state;
  };
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
  it.each(['acme', null])(
    'leaves what was begun and who was named after it was asked for, of %s',
    async (groupRef) => {
      const projectId = newId();
      const before = await begin(projectId, 'acme');
      await name(projectId, 'acme', 'ann');
      await test.database.raw(
        `INSERT INTO consumer (project_id, consumer_ref, name) VALUES ($1, 'old', 'Old')`,
        [projectId],
      );
      const askedAt = await now();
      const since = await begin(projectId, 'acme');
      await name(projectId, 'acme', 'bob');
      await name(projectId, 'new', 'cid');
      await test.database.raw(
        `INSERT INTO consumer (project_id, consumer_ref, name) VALUES ($1, 'newer', 'Newer')`,
        [projectId],
      );
      expect((await erase(projectId, groupRef, 100, askedAt)).removed).toBe(3);
      expect(await names(projectId)).toEqual([
        'Group acme',
        'Group new',
        'Newer',
        'Person bob',
        'Person cid',
      ]);
      expect(await isOpenFlow(test.database, before)).toBe(false);
      expect(await isOpenFlow(test.database, since)).toBe(true);
      expect((await erase(projectId, groupRef)).removed).toBe(groupRef === null ? 6 : 4);
      expect(await isOpenFlow(test.database, since)).toBe(false);
    },
  );

  it('takes no group that was there and comes in by a file, before its connections came; who connects does not wait', async () => {
    const projectId = newId();
    await name(projectId, 'back', 'ann');
    const [groups, consumers] = portableConnections;
    const from = { projectId, limit: 10 };
    const file = {
      groups: await groups!.read(test.database, from, vault),
      consumers: await consumers!.read(test.database, from, vault),
    };
    await test.database.transaction(async (tx) => {
      await groups!.write(tx, projectId, file.groups, vault);
      await consumers!.write(tx, projectId, file.consumers, vault);
      expect(await erase(projectId, null)).toMatchObject({ removed: 0 });
      await name(projectId, 'back', 'ann');
      await connect(projectId, 'back', 'ann', tx);
    });
    expect(await erase(projectId, null)).toMatchObject({ removed: 0 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { wholeProject } from '../events/index.ts';
import { newId } from '../kit/ids.ts';
import { listOperations } from './list.ts';
import { foldCounts } from './store/counts.ts';

describe('src/operations/counts', () => {
  let test: TestDatabase;
  const projectId = newId();
  const ids = Array.from({ length: 5 }, () => newId());

  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      SELECT $1, id, $1, $1, $1, 'read', '{}', 'contacts', 'in_progress', 0 FROM unnest($2::uuid[]) AS id`,
      [projectId, ids],
    );
  });
  afterAll(() => test?.drop());

  const add = (count: number): Promise<unknown> =>
    test.database.raw(
      `INSERT INTO operation_delta SELECT $1, ($2::uuid[])[1 + n % 5], 2, n % 2 FROM generate_series(1, $3::int) n`,
      [projectId, ids, count],
    );

  it('counts each once, whoever else counts or adds at the same time', async () => {
    await add(1_000);
    const counting = Array.from({ length: 4 }, async () => {
      while ((await foldCounts(test.database, 50)) > 0);
    });
    for (let n = 0; n < 20; n += 1) await add(50);
    await Promise.all(counting);
    while ((await foldCounts(test.database, 500)) > 0);
    const rows = await test.database.raw(
      'SELECT succeeded, failed FROM operation WHERE project_id = $1 ORDER BY id',
      [projectId],
    );
    expect(rows.map(({ succeeded }) => succeeded)).toEqual(Array(5).fill(800));
    expect(rows.reduce((sum, { failed }) => sum + Number(failed), 0)).toBe(1_000);
    const { found } = await listOperations(test.database, wholeProject(projectId), { partlyDone: true }, 50);
    expect(found).toEqual([]);
    await test.database.raw(`UPDATE operation SET status = 'success' WHERE project_id = $1`, [projectId]);
    const ended = await listOperations(test.database, wholeProject(projectId), { partlyDone: true }, 50);
    expect(ended.found.map(({ row }) => row.id).toSorted()).toEqual(ids);
  });

  it('what was delivered of an operation that is gone is counted nowhere, and does not stay', async () => {
    await test.database.raw('INSERT INTO operation_delta VALUES ($1, $2, 1, 0)', [projectId, newId()]);
    expect(await foldCounts(test.database, 10)).toBe(1);
    expect(await foldCounts(test.database, 10)).toBe(0);
  });
});

import { wholeProject } from '../../events/index.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { newId } from '../../kit/ids.ts';
import { insertLogRows, searchLog, type ProxyLogCall, type ProxyLogTarget } from './log-store.ts';

const targetOf = (project_id: string): ProxyLogTarget => ({
  project_id,
  integration_id: newId(),
  installation_id: newId(),
  connection_id: newId(),
  group_ref: 'g',
  provider: 'hubspot',
});
const callOf = (path: string): ProxyLogCall => ({
  id: newId(),
  method: 'GET',
  path,
  status: 200,
  problem: null,
  provider_ms: 3,
  total_ms: 4,
});

describe('actions/proxy/log-store', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const pathsOf = async (projectId: string): Promise<string[]> => {
    const page = {
      before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      from: '00000000-0000-0000-0000-000000000000',
      limit: 10,
    };
    return (await searchLog(database.database, wholeProject(projectId), page)).map(({ path }) => path);
  };

  test('keeps each call under its own target, and a batch once when its answer was lost', async () => {
    const [one, other] = [targetOf(newId()), targetOf(newId())];
    const calls = [
      { target: one, call: callOf('/a') },
      { target: other, call: callOf('/b') },
      { target: one, call: callOf('/c') },
    ];
    for (let times = 0; times < 2; times += 1)
      await insertLogRows(database.database, calls, (target) => target);
    expect(await pathsOf(one.project_id)).toEqual(['/c', '/a']);
    expect(await pathsOf(other.project_id)).toEqual(['/b']);
  });
});

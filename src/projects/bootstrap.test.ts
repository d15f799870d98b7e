import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { createLog } from '../kit/log.ts';
import { bootstrap } from './bootstrap.ts';
import { generateApiKey } from './keys/key-form.ts';
import { createApiKeys } from './keys/api-keys.ts';

describe('src/projects/bootstrap', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it('refuses a given key that cannot be a key, also on a database in use', async () => {
    await expect(bootstrap(test.database, { givenKey: 'svc_secret' })).rejects.toThrow('must be 32 to 512');
  });

  it('makes one project when many nodes start at once, and shows its key once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => bootstrap(test.database)));
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(answers.filter(({ apiKey }) => apiKey !== undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ projectId }) => projectId)).size).toBe(1);
    expect(await test.database.raw('SELECT count(*)::int AS count FROM api_key')).toEqual([{ count: 1 }]);
    expect(await bootstrap(test.database, { givenKey: generateApiKey().key })).toEqual({
      created: false,
      projectId: answers[0]!.projectId,
    });
  });

  it('takes a given key and does not repeat it', async () => {
    const other = await createTestDatabase();
    const keys = createApiKeys({ database: other.database, log: createLog('silent') });
    try {
      const { key } = generateApiKey();
      const { created, apiKey, projectId } = await bootstrap(other.database, { givenKey: key });
      expect({ created, apiKey }).toEqual({ created: true, apiKey: undefined });
      expect(await keys.authenticate(key)).toMatchObject({
        projectId,
        projectName: 'default',
        scopes: ['full', 'metrics', 'operator'],
      });
    } finally {
      await keys.close();
      await other.drop();
    }
  });
});

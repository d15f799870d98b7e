import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { createVault, generateMasterKey, parseMasterKeys } from '../kit/vault.ts';
import { transferOn } from './harness.fixture.ts';
import type { Transfer } from './transfer.ts';

const project = { id: '01920000-0000-7000-8000-000000000001', name: 'sealed' };
const app = '01920000-0000-7000-8000-000000000002';
const passphrase = 'correct horse battery staple';

describe('transfer/sealed', () => {
  let test: TestDatabase;
  let transfer: Transfer;
  beforeAll(async () => {
    test = await createTestDatabase();
    transfer = transferOn(test.database);
  });
  afterAll(() => test?.drop());

  it.each([false, true])(
    'what a lost master key sealed is named, and nothing is moved (move: %s)',
    async (move) => {
      const lost = createVault(parseMasterKeys(generateMasterKey('lost')));
      const secret = lost.seal('client-secret', 'anywhere').toString('hex');
      await test.database.raw(
        `INSERT INTO provider_app (project_id, id, provider, client_id, client_secret, metadata, is_default)
       VALUES ('${project.id}', '${app}', 'hubspot', 'c', '\\x${secret}', '{}', true) ON CONFLICT DO NOTHING`,
      );
      await test.database.raw(
        `INSERT INTO connection (project_id, id, provider, group_ref, consumer_ref, auth_scheme, status, provider_metadata, credentials)
       VALUES ('${project.id}', '${app}', 'hubspot', 'acme', 'ada', 'apiKey', 'working', '{}', '\\x00') ON CONFLICT DO NOTHING`,
      );
      await expect(transfer.export(project, { passphrase, move })).rejects.toMatchObject({
        code: 'export-sealed',
        status: 409,
        details: {
          issues: [
            { name: `providerApps[${app}]`, detail: expect.stringContaining('master key lost') as string },
            { name: `connections[${app}]` },
          ],
        },
      });
      expect(await test.database.raw('SELECT moved_at FROM connection')).toEqual([{ moved_at: null }]);
    },
  );
});

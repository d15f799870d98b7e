import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperatorKey } from '../../src/projects/index.ts';
import type { Export, Import } from '../../src/transfer/schema.ts';
import type { Platform } from '../platform.ts';
import { passphrase, startTwoServers, type TwoServers } from '../two-servers.ts';

describe('test/journeys/transfer-keys', () => {
  let servers: TwoServers;

  beforeAll(async () => {
    servers = await startTwoServers();
  });
  afterAll(() => servers?.stop());

  it('a key of operator-keys imports into the project that it was made for, and the key of the project does not', async () => {
    const { home, away, awayDatabase } = servers;
    const newProject = async (platform: Platform, name: string): Promise<string> =>
      (await platform.call<{ apiKey: { key: string } }>('POST', '/projects', { name })).body.apiKey.key;
    const ofMoving = await newProject(home, 'moving');
    const ofTenant = await newProject(away, 'second');
    const given = { label: 'to import', project: 'second' };
    const made = await createOperatorKey(awayDatabase.database, given);
    const asked = { passphrase, move: true };
    const { file } = (await home.call<Export>('POST', '/projects/moving/exports', asked, { key: ofMoving }))
      .body;
    const importedBy = (key: string) =>
      away.call<Import>('POST', '/projects/second/imports', { passphrase, file }, { key });
    expect((await importedBy(ofTenant)).status).toBe(403);
    expect(await importedBy(made.key)).toMatchObject({ status: 200, body: { created: { apiKeys: 1 } } });
    const asOperator = { label: 'more', scopes: ['operator'] };
    for (const [path, body] of [
      ['/projects/second/api-keys', asOperator],
      ['/projects', { name: 'third' }],
    ] as const)
      expect((await away.call('POST', path, body, { key: ofTenant })).status).toBe(403);
  });
});

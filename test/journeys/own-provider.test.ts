import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../src/providers/index.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';
import { startRecorder, type Recorder } from '../recorder.ts';

const file = `name: acmeBooks
displayName: Acme Books
authType: apiKey
baseURL: https://api.books.example
docsURL: https://books.example/docs
apiKeyOpts: { attachmentType: header, header: { name: X-Books-Key } }
`;

/** Ends the test at an unexpected status: the later steps need this one. */
function must({ status, text }: Answer<unknown>, wanted: number): void {
  if (status !== wanted) throw new Error(`answered ${status}, not ${wanted}: ${text}`);
}

describe('test/journeys/own-provider', () => {
  let test: TestDatabase;
  let recorder: Recorder;
  let platform: Platform;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-providers-'));
    await writeFile(join(directory, 'acmeBooks.yaml'), file);
    [test, recorder] = await Promise.all([createTestDatabase(), startRecorder()]);
    platform = await startPlatform({
      databaseUrl: test.url,
      records: 1,
      env: { SVC_PROVIDERS_DIR: directory },
      origins: { acmeBooks: recorder.url },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    await recorder?.close();
    await test?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  it("a builder's file is enough to deploy, connect and call a provider of their own", async () => {
    const listed = await platform.call<Record<string, unknown>>('GET', '/providers');
    expect(listed.body['acmeBooks']).toMatchObject({ displayName: 'Acme Books', support: { proxy: true } });
    expect(listed.body['hubspot']).toBeDefined();
    const integrations = [{ name: 'books', provider: 'acmeBooks', proxy: { enabled: true } }];
    const deployed = await platform.call('PUT', `/projects/${platform.projectId}/integrations:batch`, {
      sourceYaml: JSON.stringify({ specVersion: '1.0.0', integrations }),
    });
    must(deployed, 200);
    const owner = { groupRef: 'acme', consumerRef: 'ada' };
    const made = await platform.call('POST', '/projects/default/connections:generate', {
      ...owner,
      provider: 'acmeBooks',
      apiKey: 'k-1',
    });
    must(made, 201);
    const installed = await platform.call<{ id: string }>(
      'POST',
      '/projects/default/integrations/books/installations',
      { groupRef: 'acme', config: { content: { provider: 'acmeBooks' } } },
    );
    await rawCall(platform.proxy, {
      target: '/v1/ledgers',
      headers: {
        'x-svc-proxy-version': '1',
        'x-svc-project-id': platform.projectId,
        'x-api-key': platform.apiKey,
        'x-svc-installation-id': installed.body.id,
      },
    });
    expect(recorder.seen.at(-1)).toMatchObject({ target: '/v1/ledgers', headers: { 'x-books-key': 'k-1' } });
  });

  it('a name that the catalogue has is refused, naming both files', async () => {
    const clash = await mkdtemp(join(directory, 'clash-'));
    await writeFile(join(clash, 'hubspot.yaml'), file.replace('acmeBooks', 'hubspot'));
    const load = (): unknown => loadCatalog({ directory: clash });
    expect(load).toThrow(join(clash, 'hubspot.yaml'));
    expect(load).toThrow(/providers\/catalog\/hubspot\.yaml/);
  });

  it('a folder that is not there stops the start, naming it', () => {
    expect(() => loadCatalog({ directory: '/nowhere/providers' })).toThrow('/nowhere/providers');
  });
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const document = join(root, 'openapi.json');
/** Installed by `npm run check`. */
const tools = join(import.meta.dirname, 'node_modules');
const run = async (cwd: string, script: string, ...args: string[]): Promise<string> => {
  const started = promisify(execFile)(process.execPath, [join(tools, script), ...args], {
    cwd,
  });
  return started.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => `${error.message}\n${error.stdout ?? ''}`,
  );
};

/** What a builder writes against the types of `openapi-typescript`. */
const withTypes = `
import type { components, paths } from './types.js';

type Write = paths['/write/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}']['post'];
type Done = Write['responses'][200]['content']['application/json'];
type Refused = Write['responses'][422]['content']['application/json'];

export const request: Write['requestBody']['content']['application/json'] = {
  groupRef: 'acme', type: 'create', record: { email: 'ada@example.com' },
};
export function idsOf(answer: Done): (string | undefined)[] {
  if ('result' in answer) return [answer.result.recordId];
  if ('results' in answer) return answer.results.map((one) => (one.success ? one.recordId : one.errors?.[0]?.message));
  return 'plan' in answer ? [] : [answer.operationId];
}
export const firstReason = (answer: Refused): string | undefined => answer.errors[0]?.category;
export const query: paths['/v1/projects/{projectIdOrName}/audit-log']['get']['parameters']['query'] = {};
export const connection = (one: components['schemas']['Connection']): 'created' | 'working' | 'bad_credentials' => one.status;
`;

/** The same with the client of `@hey-api/openapi-ts`. */
const withClient = `
import { listAuditLog, writeRecords } from './client/index.js';

export async function write(): Promise<string | undefined> {
  const { data, error } = await writeRecords({
    baseUrl: 'https://svc.example.com',
    path: { projectIdOrName: 'mailmonkey', integrationId: 'hubspot-crm', objectName: 'contacts' },
    body: { groupRef: 'acme', type: 'create', record: { email: 'ada@example.com' } },
  });
  if (error) return 'code' in error ? error.code : undefined;
  return data && 'result' in data ? data.result.recordId : undefined;
}
export const changes = () => listAuditLog({ path: { projectIdOrName: 'mailmonkey' } });
`;

describe.skipIf(!existsSync(tools))('test/openapi/clients', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-clients-'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const compile = (file: string): Promise<string> => {
    const modules = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
    const options = ['--strict', '--noEmit', ...modules, '--lib', 'es2024,dom,dom.iterable'];
    return run(folder, 'typescript/bin/tsc', ...options, file);
  };

  it('openapi-typescript makes types of the document that hold in strict code', async () => {
    await run(folder, 'openapi-typescript/bin/cli.js', document, '--output', 'types.ts');
    await writeFile(join(folder, 'with-types.ts'), withTypes);
    expect(await compile('with-types.ts')).toBe('');
    await writeFile(join(folder, 'wrong.ts'), withTypes.replace("type: 'create'", "type: 'make'"));
    expect(await compile('wrong.ts')).toContain('"make"');
  }, 240_000);

  it('@hey-api/openapi-ts makes a client of the document that holds in strict code', async () => {
    const options = ['--input', document, '--output', 'client', '--no-log-file'];
    await run(folder, '@hey-api/openapi-ts/bin/run.js', ...options);
    await writeFile(join(folder, 'with-client.ts'), withClient);
    expect(await compile('with-client.ts')).toBe('');
  }, 240_000);
});

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFolder, type Folder } from '../run.fixture.ts';

const root = join(import.meta.dirname, '../../..');

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: inbox
          requiredFields:
            - fieldName: Email
            - { fieldName: firstname, mapToName: given }
          optionalFields:
            - { mapToName: "$['at']['town']" }
        - objectName: companies
          destination: inbox
          optionalFieldsAuto: all
    write:
      objects:
        - { objectName: contacts, inheritMapping: true }
        - { objectName: companies, inheritMapping: true }
        - objectName: deals
`;

/** What a builder writes against the types; what is marked must be an error. */
const program = `
import { Svc } from '@svc/client';
import type { Integrations } from './integrations.ts';

const svc = new Svc<Integrations>({ baseUrl: 'http://127.0.0.1:4000', project: 'default', apiKey: 'k' });
const people = { integration: 'hubspot-crm', object: 'contacts', groupRef: 'acme', type: 'create' } as const;
void svc.write({ ...people, record: { Email: 'a', given: 'Ada', at: { town: 'Bern' } } });
// @ts-expect-error a wrong field
void svc.write({ ...people, record: { Email: 'a', givn: 'Ada' } });
// @ts-expect-error a wrong field on the second level
void svc.write({ ...people, record: { at: { twon: 'Bern' } } });
// @ts-expect-error mapped under another name
void svc.write({ ...people, record: { firstname: 'Ada' } });
void svc.write({ ...people, object: 'companies', record: { anything: 1 } });
void svc.write({ ...people, object: 'deals', record: { anything: 1 } });
// @ts-expect-error a wrong object
void svc.write({ ...people, object: 'people', record: {} });
// @ts-expect-error a wrong integration
void svc.write({ ...people, integration: 'hubspot', record: {} });

export async function receive(request: Request): Promise<void> {
  const message = await svc.verifyWebhook(request, 'whsec_');
  if (message.objectName !== 'people') return;
  for (const { fields, mappedFields } of message.result ?? []) {
    console.log(fields.email, mappedFields.given, mappedFields.at?.town);
    // @ts-expect-error mapped, and so not among the fields
    console.log(fields.firstname);
    // @ts-expect-error a wrong field
    console.log(mappedFields.surname);
  }
}
`;

const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    noUnusedLocals: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    allowImportingTsExtensions: true,
    paths: {
      '@svc/client': [join(root, 'ui/client/src/index.ts')],
      'openapi-fetch': [join(root, 'node_modules/openapi-fetch')],
    },
  },
  files: ['program.ts'],
};

describe('cli/types', () => {
  let at: Folder;
  beforeAll(async () => {
    at = await openFolder({
      'svc.yaml': manifest,
      'program.ts': program,
      'tsconfig.json': JSON.stringify(tsconfig),
    });
  });
  afterAll(() => at.close());

  const compile = (): Promise<string> =>
    promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], {
      cwd: at.folder,
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );

  it('a wrong integration, object or field is a compile error against what it writes, a right one is none', async () => {
    expect(await at.run(['types', '--out', 'integrations.ts'])).toEqual({ code: 0, out: '', err: '' });
    expect(await compile()).toBe('');
    const written = await readFile(join(at.folder, 'integrations.ts'), 'utf8');
    expect(await at.run(['types', 'svc.yaml'])).toEqual({ code: 0, out: written, err: '' });
    await writeFile(join(at.folder, 'program.ts'), program.replaceAll(/\/\/ @ts-expect-error.*\n/g, ''));
    const errors = (await compile()).split('\n').filter((line) => line.includes('error TS'));
    expect(errors).toHaveLength(7);
    expect(errors[0]).toContain("'givn' does not exist");
  }, 120_000);

  it.each([
    [
      'no file',
      ['types'],
      2,
      'svc.yaml cannot be read: there is no such file.\nName the manifest behind the command, or write a first one: svc init.\n',
    ],
    [
      'a folder',
      ['types', '.'],
      2,
      '. cannot be read: it is a folder.\nName the manifest behind the command, or write a first one: svc init.\n',
    ],
    [
      'an option that is none',
      ['types', '--ot', 'x'],
      2,
      'svc types has no option --ot.\nDid you mean --out? `svc types --help` tells those that there are.\n',
    ],
  ])('says what is wrong with %s', async (_what, args, code, err) => {
    const empty = await openFolder();
    expect(await empty.run(args)).toEqual({ code, out: '', err });
    await empty.close();
  });

  it('shows each fault of a manifest in its line, and writes nothing', async () => {
    const wrong = await openFolder({
      'svc.yaml': manifest.replace('inheritMapping: true', 'inheritMaping: true'),
    });
    expect(await wrong.run(['types'])).toEqual({
      code: 1,
      out: '',
      err: `svc.yaml:20:35 error: integrations[0].write.objects[0].inheritMaping is not a known key (unknown-key)
   20 |         - { objectName: contacts, inheritMaping: true }
      |                                   ^ Did you mean inheritMapping?
1 error in svc.yaml.
Correct what is marked and run the command again.
`,
    });
    await wrong.close();
  });
});

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install } from '../../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startPlatform, type Platform } from '../../../test/platform.ts';
import { startReceiver, type Receiver } from '../../../test/receiver.ts';

const root = join(import.meta.dirname, '../../..');
const home = join(root, 'ui/client');

/** What the program said, to its end or its failure. */
async function run(cwd: string, file: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000 };
  const ended = promisify(execFile)(file, args, options).catch(
    (error: { stdout: string; stderr: string; message: string }) => error,
  );
  const { stdout, stderr } = await ended;
  return `${stdout}${stderr}`;
}

/** The oldest Node that the package is for, where the path has one; otherwise this one. */
async function oldestNode(): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    if ((await run(root, node, ['--version'])).startsWith('v20.')) return node;
  }
  return process.execPath;
}

/** What the page has in TypeScript, as the one program that it is. */
async function readmeProgram(): Promise<string> {
  const page = await readFile(join(home, 'README.md'), 'utf8');
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block).join('\n');
}

/** The commands by which the page has the package made in a checkout. */
async function makingCommands(): Promise<string[]> {
  const page = await readFile(join(home, 'README.md'), 'utf8');
  return (page.match(/^npm (?:run|pack) .*$/gm) ?? []).map((line) => line.replace(/ *#.*$/, ''));
}

describe('ui/client/package', () => {
  /** An application that has installed the package as it would be published. */
  let app: string;
  let tarball: Buffer;

  beforeAll(async () => {
    app = await realpath(await mkdtemp(join(tmpdir(), 'svc-client-')));
    await rm(join(home, 'dist'), { recursive: true, force: true });
    for (const command of await makingCommands())
      await run(root, 'npm', [...command.split(' ').slice(1), '--pack-destination', app]);
    const file = (await readdir(app)).find((name) => name.endsWith('.tgz')) ?? '';
    tarball = await readFile(join(app, file));
    const scope = join(app, 'node_modules/@svc');
    await mkdir(scope, { recursive: true });
    await run(scope, 'tar', ['xzf', join(app, file)]);
    await run(scope, 'mv', ['package', 'client']);
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types', 'undici-types'])
      await symlink(join(root, 'node_modules', name), join(app, 'node_modules', name));
    await writeFile(join(app, 'package.json'), '{"type":"module"}');
  }, 120_000);
  afterAll(() => rm(app, { recursive: true, force: true }));

  const compile = (file: string, ...options: string[]): Promise<string> => {
    const common = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--ignoreConfig'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    return run(app, process.execPath, [tsc, ...common, ...options, file]);
  };
  const asNode = ['--module', 'nodenext', '--lib', 'es2024', '--types', 'node'];
  const asBrowser = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2024,dom'];

  it('holds what it should: its build, its page and nothing else', async () => {
    const inside = await readdir(join(app, 'node_modules/@svc/client'), { recursive: true });
    const surplus = inside.filter((name) => !/^(dist.*|package\.json|README\.md)$/.test(name));
    expect(surplus).toEqual([]);
    expect(inside).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'README.md']));
  });

  it('publint and arethetypeswrong find nothing', async () => {
    const { messages } = await publint({
      pkgDir: join(app, 'node_modules/@svc/client'),
      pack: false,
      strict: true,
    });
    expect(messages).toEqual([]);
    const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
    // It is ESM only, for resolution by `exports`.
    const problems = 'problems' in checked ? checked.problems : [];
    const counts = (one: (typeof problems)[number]): boolean =>
      !('resolutionKind' in one && (one.resolutionKind === 'node10' || one.resolutionKind === 'node16-cjs'));
    expect(checked.types).not.toBe(false);
    expect(problems.filter(counts)).toEqual([]);
  });

  it('needs nothing of Node: no import but its own and the one dependency, no global of Node', async () => {
    const dist = join(app, 'node_modules/@svc/client/dist');
    for (const name of await readdir(dist, { recursive: true })) {
      if (!name.endsWith('.js')) continue;
      const text = await readFile(join(dist, name), 'utf8');
      const imports = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from ?? '');
      expect(imports.filter((from) => !/^\.\.?\//.test(from) && from !== 'openapi-fetch')).toEqual([]);
      expect(text).not.toMatch(/\b(process|Buffer|require|__dirname)\b\.?/);
    }
  });

  it.each([
    ['in Node', asNode],
    ['in a browser or at an edge', asBrowser],
  ])(
    'its types hold in strict code %s',
    async (_where, options) => {
      await writeFile(join(app, 'types.ts'), await readFile(join(import.meta.dirname, 'types.txt'), 'utf8'));
      expect(await compile('types.ts', '--noEmit', ...options)).toBe('');
    },
    120_000,
  );

  describe('its page', () => {
    let test: TestDatabase;
    let platform: Platform;
    let receiver: Receiver;
    beforeAll(async () => {
      test = await createTestDatabase();
      receiver = await startReceiver();
      platform = await startPlatform({ databaseUrl: test.url });
      await deploy(platform);
      await install(platform, 'hubspot-crm', 'acme', {
        write: { objects: { contacts: { objectName: 'contacts', inheritMapping: false } } },
      });
    }, 60_000);
    afterAll(async () => {
      await platform?.stop();
      await receiver?.close();
      await test?.drop();
    });

    /** A message as the platform signs it, for the receiver of the page. */
    async function delivered(): Promise<{ signingKey: string; request: object }> {
      const at = `/projects/${platform.projectId}/destinations`;
      const metadata = { url: receiver.url };
      await platform.call('POST', at, { name: 'inbox', type: 'webhook', metadata });
      await platform.call('POST', `${at}/inbox:test`);
      const { body } = await platform.call<{ secrets: { webhookSigningKey: string } }>(
        'GET',
        `${at}/inbox?includeSecrets=true`,
      );
      const [got] = receiver.received;
      return {
        signingKey: body.secrets.webhookSigningKey,
        request: { headers: got?.headers, body: got?.text },
      };
    }

    it('does what it says, as one program against the platform and the simulated HubSpot', async () => {
      const program = await readmeProgram();
      const { signingKey, request } = await delivered();
      const received = `const { headers, body } = ${JSON.stringify(request)} as { headers: Record<string, string>; body: string };
        console.log((await receive(new Request('http://app', { method: 'POST', headers, body }))).status);`;
      await writeFile(join(app, 'page.ts'), `${program}\n${received}`);
      expect(await compile('page.ts', ...asNode)).toBe('');
      const env = { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey, SIGNING_KEY: signingKey };
      const said = await run(app, await oldestNode(), ['page.js'], env);
      expect(said.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>').split('\n')).toMatchInlineSnapshot(`
        [
          "created 551",
          "would send /crm/v3/objects/contacts",
          "ended success",
          "row 1 done",
          "row 2 conflict",
          "provider-refused conflict false",
          "error writing contacts: conflict: HubSpot answered 409: Contact already exists. Existing ID: 551 Correct the record as \`provider.message\` says. [] <id> <id>",
          "contacts failure",
          "contacts success",
          "contacts success",
          "contacts success",
          "contacts success",
          "received test 0",
          "204",
          "",
        ]
      `);
    }, 120_000);
  });
});

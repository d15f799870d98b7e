import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { access, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { deploy, effects, fault, install, type SimulatorEffect } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { blocksIn } from '../pages/blocks.ts';
import { callsIn, routeOf } from '../pages/calls.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { startWitness, type Witness } from '../witness.ts';

interface Ended {
  code: number | null;
  said: string;
}

const page = 'docs/guides/samples.md';

function blocksOf(language: string): string[] {
  return blocksIn(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text);
}

/** The blocks of the page in one language, which are one program. */
function programOf(language: string): string {
  return blocksOf(language).join('\n');
}

const guides = globSync('docs/guides/*.md')
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path !== page);

/** The calls of the guides that a program did not make. */
function missingIn(seen: Witness['seen']): string[] {
  const made = new Set(seen.map(({ method, target }) => routeOf(method, target)));
  const missing = guides.flatMap(callsIn).filter(({ routes }) => !routes.some((route) => made.has(route)));
  return [...new Set(missing.map(({ said }) => said))];
}

interface Followed extends Ended {
  calls: Witness['seen'];
  proxied: Witness['seen'];
}

async function versionOf(node: string): Promise<string> {
  const { said } = await run(node, ['--version'], {});
  return said.trim();
}

/** A Node of that major version in the path. */
async function findNode(major: number): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    const isThere = await access(node).then(
      () => true,
      () => false,
    );
    if (isThere && (await versionOf(node)).startsWith(`v${major}.`)) return node;
  }
  return undefined;
}

/** `heard` is called with all output so far, each time there is more. */
function run(
  file: string,
  args: string[],
  env: Record<string, string>,
  heard: (said: string) => void = () => undefined,
): Promise<Ended> {
  const child = spawn(file, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      heard(said);
    });
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => done({ code, said }));
  });
}

const node20 = await findNode(20);
const without20 = node20 ? '' : ' (skipped: there is no Node 20 in the path)';

/** What of these is not installed here, as a reason to skip. */
function without(...programs: string[]): string {
  const missing = programs.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error);
  return missing.length > 0 ? ` (skipped: there is no ${missing.join(' and no ')} in the path)` : '';
}

const languages = [
  {
    name: 'curl',
    language: 'bash',
    command: ['bash'],
    file: 'samples.sh',
    lacks: without('bash', 'curl', 'openssl'),
  },
  { name: 'TypeScript', language: 'ts', command: [process.execPath], file: 'samples.mts', lacks: '' },
  {
    name: 'Python',
    language: 'python',
    command: ['python3'],
    file: 'samples.py',
    lacks: without('python3', 'openssl'),
  },
];

/** What the receiver of a program answers to a message that svc did not sign. */
async function forge(hook: string): Promise<number> {
  const headers = {
    'webhook-id': 'one',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': `v1,${Buffer.alloc(32, 1).toString('base64')}`,
  };
  const { status } = await fetch(hook, { method: 'POST', headers, body: '{"action":"read"}' });
  return status;
}

async function open(link: string): Promise<number> {
  return (await newBrowser().open(link)).status;
}

describe('test/journeys/samples', () => {
  let test: TestDatabase;
  let platform: Platform;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-samples-'));
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  });
  beforeEach(async () => {
    await platform?.stop();
    await test?.drop();
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the program and opens the link that it prints, after its receiver has refused an unsigned message. */
  async function follow(command: string[], file: string): Promise<Followed> {
    const witnesses = [await startWitness(platform.base), await startWitness(platform.proxy)] as const;
    const hook = `http://127.0.0.1:${await freePort()}`;
    let opened: Promise<number[]> | undefined;
    const [first = '', ...args] = command;
    const [svc, proxy] = witnesses;
    const env = { SVC: svc.url, PROXY: proxy.url, KEY: platform.apiKey, HOOK: hook };
    const ended = await run(first, [...args, file], env, (said) => {
      const [link] = /^http\S+(?=\n)/m.exec(said) ?? [];
      if (link !== undefined) opened ??= Promise.all([forge(hook), open(link)]);
    });
    await Promise.all(witnesses.map((one) => one.close()));
    expect((await opened) ?? ended.said).toEqual([400, 200]);
    return { ...ended, calls: svc.seen, proxied: proxy.seen };
  }

  const kindsOf = (all: SimulatorEffect[], object: string): string[] =>
    all.filter((one) => one.object === object).map(({ kind }) => kind);

  for (const { name, language, command, file, lacks } of languages)
    it.skipIf(lacks)(
      `the samples in ${name} make each call of the guides, and it does what they say${lacks}`,
      async () => {
        await fault(platform.hubspot, {
          method: 'POST',
          path: '/objects/companies',
          fault: { kind: 'reset-before' },
        });
        const path = join(folder, file);
        await writeFile(path, programOf(language));
        const { code, said, calls, proxied } = await follow(command, path);
        expect(code === 0 ? 0 : said).toBe(0);
        expect(missingIn(calls)).toEqual([]);
        expect(proxied).toHaveLength(1);
        expect(said).toContain('"results"');
        // Signed, and taken by the program's own receiver.
        for (const one of ['test', 'read', 'write.async.done'])
          expect(said).toMatch(new RegExp(`(received |  )${one}\\b`));
        const all = await effects(platform.hubspot);
        expect(kindsOf(all, 'contacts').toSorted()).toEqual([
          'create',
          'create',
          'create',
          'create',
          'delete',
          'update',
          'update',
        ]);
        // Lost, settled by hand and written again.
        expect(kindsOf(all, 'companies')).toEqual(['create']);
      },
      180_000,
    );

  const contacts = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
  const refused = '{"groupRef":"acme","type":"create","record":{"email":"no address"}}';
  const attempts: Record<string, [absent: string, refused: string]> = {
    bash: [
      'call "$SVC/v1/projects/nope" | field id',
      `call "$SVC${contacts}" -d '${refused}' | field recordId`,
    ],
    ts: [`await call('GET', '/v1/projects/nope');`, `await call('POST', '${contacts}', ${refused});`],
    python: [`call("GET", "/v1/projects/nope")`, `call("POST", "${contacts}", ${refused})`],
  };
  for (const { name, language, command, file, lacks } of languages)
    it.skipIf(lacks)(
      `the helpers in ${name} say why, when svc refuses and when the provider does${lacks}`,
      async () => {
        await deploy(platform);
        await install(platform, 'hubspot-crm', 'acme');
        const [helpers = ''] = blocksOf(language);
        const [first = '', ...args] = command;
        const env = { SVC: platform.base, PROXY: platform.proxy, KEY: platform.apiKey, HOOK: '' };
        const [absent, byProvider] = attempts[language] ?? ['', ''];
        for (const [attempt, reason] of [
          [absent, /There is no project nope/],
          [byProvider, /no address/],
        ] as const) {
          const path = join(folder, file);
          await writeFile(path, `${helpers}\n${attempt}\n`);
          const { code, said } = await run(first, [...args, path], env);
          expect([code === 0, said]).toEqual([false, expect.stringMatching(reason)]);
          expect(said).not.toMatch(/undefined|KeyError|TypeError/);
        }
      },
      120_000,
    );

  it.skipIf(without20)(
    `the official client of HubSpot works on Node 20, in both major versions${without20}`,
    async () => {
      await deploy(platform);
      await install(platform, 'hubspot-crm', 'acme', { proxy: { enabled: true } });
      const program = programOf('js');
      for (const name of ['@hubspot/api-client', 'hubspot-api-client-13']) {
        const file = join(folder, 'client.mjs');
        await writeFile(file, program.replace('@hubspot/api-client', name));
        const env = { PROXY: platform.proxy, KEY: platform.apiKey, PROJECT_ID: platform.projectId };
        expect(await run(node20 ?? '', [file], env)).toEqual({ code: 0, said: 'Ada\n' });
      }
    },
    180_000,
  );
});

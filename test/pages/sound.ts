import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { Value } from 'typebox/value';
import { kinds } from '../../src/deliveries/kinds.ts';
import { destinationSchemas } from '../../src/deliveries/schema.ts';
import { checkManifest, factsOf } from '../../src/projects/manifest/index.ts';
import { loadCatalog } from '../../src/providers/index.ts';

const { CreateDestinationRequest } = destinationSchemas(kinds);

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-block-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** JSON of a request or an answer; a whole destination has to fit its schema. A member alone stands without its braces. */
function json(text: string): void {
  const value = JSON.parse(text.trim().startsWith('"') ? `{${text}}` : text) as object;
  if (!('type' in value && 'metadata' in value)) return;
  for (const { instancePath, message } of Value.Errors(CreateDestinationRequest, value))
    throw new Error(`${instancePath} ${message}`);
}

/** A provider's file, a manifest, or the part of one that belongs to an integration. */
async function yaml(text: string): Promise<void> {
  if (text.startsWith('name:'))
    return inFolder(async (directory) => {
      await writeFile(join(directory, `${/^name: (\w+)/.exec(text)?.[1]}.yaml`), text);
      loadCatalog({ directory });
    });
  const own = `specVersion: 1.0.0\nintegrations:\n  - name: example\n    provider: hubspot\n`;
  const whole = text.startsWith('specVersion') ? text : own + text.replaceAll(/^(?=.)/gm, '    ');
  const [fault] = checkManifest(whole, factsOf(loadCatalog())).errors;
  if (fault) throw new Error(fault.message);
}

/** What somebody runs in a database of theirs; nothing of it stays. */
async function sql(text: string, databaseUrl: string): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    await client.query(`BEGIN;${text};ROLLBACK`);
  } catch (error) {
    // PostgreSQL understood all of it; the role of the tests may not do it.
    if ((error as { code?: string }).code !== '42501') throw error;
  } finally {
    await client.end();
  }
}

/** What a receiver does with a request: it has `request` and `textOfTheBody`, and throws where it fails. */
async function js(text: string): Promise<void> {
  const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  const body = JSON.stringify({ action: 'test' });
  const headers = {
    'webhook-id': 'one',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': new Webhook(secret).sign('one', new Date(), body),
  };
  const given = `const request = ${JSON.stringify({ headers })}, textOfTheBody = ${JSON.stringify(body)};\n`;
  await inFolder(async (folder) => {
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const file = join(folder, 'receiver.mjs');
    await writeFile(file, `${given}${text}\nif (message.action !== 'test') throw new Error('not read');\n`);
    await promisify(execFile)(process.execPath, [file], { env: { SIGNING_KEY: secret } });
  });
}

/** A page of a builder's with our components, held to their types. */
async function tsx(text: string): Promise<void> {
  await inFolder(async (folder) => {
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'page.tsx'), text);
    const config = {
      extends: resolve('ui/embed/test/app/tsconfig.json'),
      include: ['page.tsx', resolve('ui/embed/src/css.d.ts')],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder]).catch(
      (error: { stdout: string }) => {
        throw new Error(error.stdout);
      },
    );
  });
}

async function css(text: string): Promise<void> {
  const { warnings } = await transform(text, { loader: 'css' });
  if (warnings[0]) throw new Error(warnings[0].text);
}

const hasNginx = spawnSync('nginx', ['-v']).status === 0;

async function nginx(text: string): Promise<void> {
  if (!hasNginx) return;
  await inFolder(async (folder) => {
    const file = join(folder, 'nginx.conf');
    await writeFile(
      file,
      `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${text}\n}\n`,
    );
    await promisify(execFile)('nginx', ['-t', '-c', file, '-p', folder]);
  });
}

function mermaid(text: string): void {
  if (!/^(flowchart (LR|TB|TD)|sequenceDiagram|stateDiagram-v2)\n/.test(text))
    throw new Error('another kind of picture');
}

/** How a block that is no program is looked at, by its language: it throws where the block is wrong. */
export const looks: Record<string, (text: string, databaseUrl: string) => Promise<void> | void> = {
  json,
  yaml,
  sql,
  js,
  tsx,
  css,
  nginx,
  mermaid,
  // Forms and layouts, to be read by people.
  text: () => undefined,
};

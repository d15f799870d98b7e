import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/kit/db/database.ts';
import { startEmbedded } from '../src/kit/db/embedded/index.ts';
import { newId } from '../src/kit/ids.ts';
import { generateApiKey } from '../src/projects/keys/key-form.ts';

/** The product in a process of its own, with one installation of a provider that lives at `origin`. */
export interface Stage {
  base: string;
  proxy: string;
  apiKey: string;
  projectId: string;
  installationId: string;
  databaseUrl: string;
  close(): Promise<void>;
}

const manifest = `specVersion: 1.0.0
integrations:
  - name: crm
    provider: hubspot
    write: { objects: [{ objectName: contacts }] }
    proxy: { enabled: true }
`;

/** Starts a server of `bench/servers` and waits for its port. */
export async function startServer(
  name: string,
  ...args: string[]
): Promise<{ port: number; close(): Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'servers', name), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
    child.once('exit', () => reject(new Error(`${name} ended before it listened`)));
  });
  return { port, close: () => end(child) };
}

/** `role` is that of `src/main.ts`: `api` accepts without working. */
export async function startStage(origin: string, role: 'all' | 'api' = 'all'): Promise<Stage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const database = await makeDatabase(dataDir);
  const [port, proxyPort] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${port}`;
  const apiKey = generateApiKey().key;
  const child = spawn(process.execPath, [...process.execArgv, 'src/main.ts', role], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      SVC_ENCRYPTION_KEYS: `b1:${Buffer.alloc(32, 1).toString('base64')}`,
      SVC_BOOTSTRAP_API_KEY: apiKey,
      SVC_DATA_DIR: dataDir,
      SVC_PORT: String(port),
      SVC_PROXY_PORT: String(proxyPort),
      SVC_LOG_LEVEL: 'error',
      SVC_PROVIDER_ORIGINS: `hubspot=${origin}`,
      SVC_EGRESS_ALLOW: '127.0.0.1',
    },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await untilReady(base, child, () => said);
  const ids = await installOne(base, apiKey);
  return {
    base,
    proxy: `http://127.0.0.1:${proxyPort}`,
    apiKey,
    databaseUrl: database.url,
    ...ids,
    close: async () => {
      await end(child);
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A database of its own on the server that DATABASE_URL names, else on an embedded one. */
async function makeDatabase(dataDir: string): Promise<{ url: string; drop(): Promise<void> }> {
  const external = process.env['DATABASE_URL'];
  const embedded = external ? undefined : await startEmbedded({ dataDir: join(dataDir, 'postgres') });
  const server = external ?? embedded?.url ?? '';
  const name = `svc_bench_${newId().replaceAll('-', '')}`;
  await admin(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      if (external) await admin(server, `DROP DATABASE ${name} WITH (FORCE)`);
      await embedded?.stop();
    },
  };
}

async function admin(url: string, text: string): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc bench admin' });
  await database.raw(text);
  await database.close();
}

async function installOne(
  base: string,
  apiKey: string,
): Promise<{ projectId: string; installationId: string }> {
  const call = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await fetch(base + path, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  };
  const [project] = await call<{ id: string }[]>('GET', '/v1/projects');
  const at = `/v1/projects/${project?.id}`;
  await call('PUT', `${at}/integrations:batch`, { sourceYaml: manifest });
  await call('POST', `${at}/provider-apps`, {
    provider: 'hubspot',
    clientId: 'a',
    clientSecret: 'b',
    scopes: ['oauth'],
  });
  await call('POST', `${at}/connections:generate`, {
    provider: 'hubspot',
    groupRef: 'g',
    consumerRef: 'c',
    oauth2AuthorizationCode: {
      accessToken: { token: 'access', expiresAt: '2099-01-01T00:00:00Z' },
      refreshToken: { token: 'refresh' },
      scopes: ['oauth'],
    },
  });
  const made = await call<{ id: string }>('POST', `${at}/integrations/crm/installations?skipSampling=true`, {
    groupRef: 'g',
    config: {
      content: { provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts' } } } },
    },
  });
  return { projectId: project?.id ?? '', installationId: made.id };
}

async function untilReady(base: string, child: ChildProcess, said: () => string): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    if (child.exitCode !== null || Date.now() > giveUpAt)
      throw new Error(`the platform did not start: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateApiKey } from '../src/projects/keys/key-form.ts';
import { atEnd } from './at-end.ts';
import { install, type GroupTokens, type Installed } from './install.ts';
import { makeDatabase } from './postgres.ts';

/** The product in a process of its own, with installations of a provider that lives at `origin`. */
export interface Stage {
  base: string;
  proxy: string;
  apiKey: string;
  projectId: string;
  /** Of the first group. */
  installationId: string;
  installed: Installed[];
  databaseUrl: string;
  pid: number;
  close(): Promise<void>;
}

export interface StageOptions {
  /** That of `src/main.ts`: `api` accepts without working. */
  role?: 'all' | 'api';
  /** May be written. */
  objects?: readonly string[];
  /** One connection and installation each. */
  groups?: readonly GroupTokens[];
}

const oneGroup: readonly GroupTokens[] = [{ groupRef: 'g', accessToken: 'access' }];

/** Starts a server of `bench/servers` and waits for its port. */
export async function startServer(
  name: string,
  ...args: string[]
): Promise<{ port: number; close(): Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'servers', name), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const close = atEnd(() => endProcess(child));
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
    child.once('exit', () => reject(new Error(`${name} ended before it listened`)));
  });
  return { port, close };
}

/** Starts the product as `npm start` does, on a database of its own. */
export async function startStage(origin: string, options: StageOptions = {}): Promise<Stage> {
  const { role = 'all', objects = ['contacts'], groups = oneGroup } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const removed = atEnd(() => rm(dataDir, { recursive: true, force: true }));
  const database = await makeDatabase();
  const apiKey = generateApiKey().key;
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    SVC_ENCRYPTION_KEYS: `b1:${Buffer.alloc(32, 1).toString('base64')}`,
    SVC_BOOTSTRAP_API_KEY: apiKey,
    SVC_DATA_DIR: dataDir,
    SVC_PORT: '0',
    SVC_PROXY_PORT: '0',
    SVC_LOG_LEVEL: 'error',
    SVC_PROVIDER_ORIGINS: `hubspot=${origin}`,
    SVC_EGRESS_ALLOW: '127.0.0.1',
  };
  const main = startMain(role, env);
  const { base, proxy } = await surfacesOf(main);
  const { projectId, installed } = await install(base, apiKey, objects, groups);
  return {
    base,
    proxy,
    apiKey,
    projectId,
    installationId: installed[0]?.installationId ?? '',
    installed,
    databaseUrl: database.url,
    pid: main.child.pid ?? 0,
    close: async () => {
      await main.close();
      await database.close();
      await removed();
    },
  };
}

interface Main {
  child: ChildProcess;
  said: () => string;
  close: () => Promise<void>;
}

function startMain(role: string, env: NodeJS.ProcessEnv): Main {
  const child = spawn(process.execPath, [...process.execArgv, 'src/main.ts', role], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return { child, said: () => said, close: atEnd(() => endProcess(child)) };
}

/** Where it says that it listens. */
async function surfacesOf(main: Main): Promise<{ base: string; proxy: string }> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const base = / management +(\S+)\/v1/.exec(main.said())?.[1];
    const proxy = / proxy +(\S+)/.exec(main.said())?.[1];
    if (base && proxy) return { base, proxy };
    if (main.child.exitCode !== null || Date.now() > giveUpAt)
      throw new Error(`the platform did not start: ${main.said()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends it in order, and waits until it is gone. */
export function endProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

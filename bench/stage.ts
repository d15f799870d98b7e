import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, untilSaid } from '../scripts/child.ts';
import { generateApiKey } from '../src/projects/keys/key-form.ts';
import { atEnd } from './at-end.ts';
import {
  callWith,
  install,
  writes,
  type Actions,
  type Call,
  type GroupTokens,
  type Installed,
} from './install.ts';
import { makeDatabase } from './postgres.ts';

/** The product in a process of its own, with installations of a provider that lives at `origin`. */
export interface Stage {
  base: string;
  proxy: string;
  apiKey: string;
  call: Call;
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
  /** Contacts may be written unless told. */
  actions?: Actions;
  /** One connection and installation each. */
  groups?: readonly GroupTokens[];
  /** Variables of the product beside the usual ones. */
  env?: Readonly<Record<string, string>>;
}

const oneGroup: readonly GroupTokens[] = [{ groupRef: 'g', accessToken: 'access' }];

/** Starts a server of `bench/servers` and waits for its port, the first of its ports. */
export async function startServer(
  name: string,
  ...args: string[]
): Promise<{ port: number; ports: number[]; close: () => Promise<void> }> {
  const child = startChild([join(import.meta.dirname, 'servers', name), ...args]);
  const close = atEnd(() => child.end());
  const [said] = await untilSaid(child, /[\d ]+\n/);
  const ports = said.trim().split(' ').map(Number);
  return { port: ports[0] ?? 0, ports, close };
}

/** Starts the product as `npm start` does, on a database of its own. */
export async function startStage(origin: string, options: StageOptions = {}): Promise<Stage> {
  const { role = 'all', actions = writes(['contacts']), groups = oneGroup } = options;
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
    SVC_LOG_FORMAT: 'text',
    SVC_PROVIDER_ORIGINS: `hubspot=${origin}`,
    SVC_EGRESS_ALLOW: '127.0.0.1',
    ...options.env,
  };
  const main = startChild([...process.execArgv, 'src/main.ts', role], { env });
  const ended = atEnd(() => main.end());
  const [, base = ''] = await untilSaid(main, / management +(\S+)\/v1/);
  const [, proxy = ''] = await untilSaid(main, / proxy +(\S+)/);
  const call = callWith(base, apiKey);
  const { projectId, installed } = await install(call, actions, groups);
  return {
    base,
    proxy,
    apiKey,
    call,
    projectId,
    installationId: installed[0]?.installationId ?? '',
    installed,
    databaseUrl: database.url,
    pid: main.process.pid ?? 0,
    close: async () => {
      await ended();
      await database.close();
      await removed();
    },
  };
}

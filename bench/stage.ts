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

/** A process of the product. */
export interface Node {
  base: string;
  proxy: string;
  pid: number;
  /** As an operator stops it. */
  stop(): Promise<void>;
}

/** The product in a process of its own, with installations of a provider that lives at `origin`. */
export interface Stage extends Node {
  apiKey: string;
  call: Call;
  projectId: string;
  /** Of the first group. */
  installationId: string;
  installed: Installed[];
  databaseUrl: string;
  /** Starts another process over the same database, with these variables beside those of the first. */
  startAnother(env?: Readonly<Record<string, string>>): Promise<Node>;
  /** Stops all that was started. */
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
  const nodes: Node[] = [];
  async function startNode(more: Readonly<Record<string, string>> = {}): Promise<Node> {
    const main = startChild([...process.execArgv, 'src/main.ts', role], { env: { ...env, ...more } });
    const stop = atEnd(() => main.end());
    const [, base = ''] = await untilSaid(main, / management +(\S+)\/v1/);
    const [, proxy = ''] = await untilSaid(main, / proxy +(\S+)/);
    const node = { base, proxy, pid: main.process.pid ?? 0, stop };
    nodes.push(node);
    return node;
  }
  const first = await startNode();
  const call = callWith(first.base, apiKey);
  const { projectId, installed } = await install(call, actions, groups);
  return {
    ...first,
    apiKey,
    call,
    projectId,
    installationId: installed[0]?.installationId ?? '',
    installed,
    databaseUrl: database.url,
    startAnother: startNode,
    close: async () => {
      for (const node of nodes) await node.stop();
      await database.close();
      await removed();
    },
  };
}

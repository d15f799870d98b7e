import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild, untilSaid } from '../../../scripts/child.ts';
import { openDatabase } from '../../../src/kit/db/database.ts';
import { startEmbedded } from '../../../src/kit/db/embedded/index.ts';
import { freePort } from '../../free-port.ts';
import { readAnswer, type Answer, type Platform } from '../../platform.ts';
import { createNode, type NodeProcess } from './node-process.ts';
import { lateEffectMs, leaseMs, type Settings } from './settings.ts';

/** The processes that every part of the suite is made of. */

export const repository = join(import.meta.dirname, '../../..');
const skewedClock = pathToFileURL(join(import.meta.dirname, 'skewed-clock.mjs')).href;

export type NodeSettings = Pick<Settings, 'skewMs' | 'providerCallMs' | 'silences' | 'silenceMs'>;

/** A database of its own on the server of `DATABASE_URL`, or a whole server, which then may be crashed. */
export async function openServer(
  folder: string,
  closing: (() => Promise<unknown>)[],
): Promise<{ url: string; crashDatabase?: () => Promise<unknown> }> {
  const external = process.env['DATABASE_URL'];
  if (external) {
    const admin = openDatabase({ url: external, poolSize: 1, applicationName: 'svc fault suite' });
    const name = `svc_faults_${randomBytes(6).toString('hex')}`;
    await admin.raw(`CREATE DATABASE ${name}`);
    closing.push(async () => {
      await admin.raw(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.close();
    });
    const url = new URL(external);
    url.pathname = `/${name}`;
    return { url: url.href };
  }
  const server = await startEmbedded({ dataDir: join(folder, 'postgres') });
  closing.push(() => server.stop());
  return {
    url: server.url,
    // Its owner, this process, starts it again by itself.
    crashDatabase: async () => {
      const text = await readFile(join(server.dataDir, 'data/postmaster.pid'), 'utf8');
      process.kill(Number(text.split('\n')[0]), 'SIGKILL');
    },
  };
}

export async function startSimulator(
  name: 'hubspot' | 'salesforce',
  { seed }: { seed: number },
  closing: (() => Promise<unknown>)[],
): Promise<string> {
  const child = startChild(
    ['simulator/main.ts', name, '--port', '0', '--records', '1', '--seed', String(seed % 1_000_000)],
    { cwd: repository, env: { PATH: process.env['PATH'] } },
  );
  closing.push(() => child.end('SIGKILL'));
  const [, url = ''] = await untilSaid(child, /^\w+: (http\S+)\s/m);
  return url;
}

export interface Around {
  /** The database, by each node's wire. */
  urls: string[];
  /** Where the nodes find the providers. */
  origins: Record<string, string>;
  /** A file with the certificate of those that are reached by TLS. */
  authorities?: string;
  apiKey: string;
  env?: Record<string, string>;
}

/** Two nodes, each on its own wire to the database, the second with a clock that is ahead. */
export async function createNodes(
  settings: NodeSettings,
  sources: string,
  folder: string,
  { urls, origins, authorities, apiKey, env: own = {} }: Around,
): Promise<NodeProcess[]> {
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const cache = join(folder, 'compile-cache');
  return Promise.all(
    [0, 1].map(async (at) => {
      const port = ports[at * 2] ?? 0;
      const base = `http://127.0.0.1:${port}`;
      const dataDir = join(folder, `node-${at}`);
      await mkdir(dataDir);
      const env = {
        PATH: process.env['PATH'] ?? '',
        NODE_COMPILE_CACHE: cache,
        DATABASE_URL: urls[at] ?? '',
        ...(at === 1 ? { NODE_OPTIONS: `--import=${skewedClock}`, SKEW_MS: String(settings.skewMs) } : {}),
        SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}`,
        SVC_BOOTSTRAP_API_KEY: apiKey,
        SVC_DATA_DIR: dataDir,
        SVC_DATABASE_POOL: '12',
        SVC_PORT: String(port),
        SVC_PROXY_PORT: String(ports[at * 2 + 1] ?? 0),
        SVC_PUBLIC_URL: base,
        SVC_LOG_LEVEL: 'fatal',
        SVC_LEASE_MS: String(leaseMs),
        SVC_PROVIDER_CALL_MS: String(settings.providerCallMs),
        SVC_LATE_EFFECT_MS: String(lateEffectMs),
        SVC_PROVIDER_ORIGINS: Object.entries(origins)
          .map((pair) => pair.join('='))
          .join(','),
        ...(authorities === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorities }),
        SVC_EGRESS_ALLOW: '127.0.0.1',
        SVC_RETURN_URLS: 'http://app.example',
        ...own,
      };
      return createNode(sources, base, env, settings);
    }),
  );
}

/** The API of a node, as far as the helpers of the journeys use it. */
export async function platformAt(
  base: string,
  apiKey: string,
  simulators: { hubspot: string; salesforce?: string },
): Promise<Platform> {
  const call = async <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> => {
    const answer = await fetch(base + (/^\/(v1|write|read)\//.test(path) ? path : `/v1${path}`), {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readAnswer<Body>(answer);
  };
  const projects = await call<{ id: string }[]>('GET', '/projects');
  const projectId = projects.body[0]?.id ?? '';
  return { base, projectId, apiKey, ...simulators, call } as unknown as Platform;
}

/** A database that was killed recovers for longer than this on no machine that the suite is run on. */
const patienceMs = 60_000;

/** Repeats a query while the database is away. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const giveUpAt = Date.now() + patienceMs; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await sleep(100);
    }
  }
}

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild, untilSaid } from '../../../scripts/child.ts';
import { openDatabase, type Database } from '../../../src/kit/db/database.ts';
import { startEmbedded } from '../../../src/kit/db/embedded/index.ts';
import { generateApiKey } from '../../../src/projects/keys/key-form.ts';
import { certificate } from '../../certificate.ts';
import { deploy, install, simulator } from '../../customer.ts';
import { startForwarder, type Forwarder } from '../../forwarder.ts';
import { freePort } from '../../free-port.ts';
import { startTlsFront } from '../../tls-front.ts';
import { readAnswer, type Answer, type Platform } from '../../platform.ts';
import { createNode, type NodeProcess } from './node-process.ts';
import { groups, leaseMs, type Settings } from './settings.ts';
import { seededRecords, type Seeded } from './workload.ts';

/**
 * The processes of a run: a database server, two simulators and two nodes. The nodes reach
 * one of the providers by TLS.
 */
export interface Stage {
  folder: string;
  database: Database;
  hubspot: string;
  salesforce: string;
  nodes: NodeProcess[];
  /** Each node's way to the database. */
  wires: Forwarder[];
  apiKey: string;
  projectId: string;
  seeded: Seeded;
  crashDatabase?: () => Promise<unknown>;
  close(): Promise<void>;
}

const repository = join(import.meta.dirname, '../../..');
const skewedClock = pathToFileURL(join(import.meta.dirname, 'skewed-clock.mjs')).href;
const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    write: { objects: [{ objectName: contacts }, { objectName: companies }] }
  - name: salesforce-crm
    provider: salesforce
    write:
      objects: [{ objectName: Contact }, { objectName: Account }, { objectName: Lead }, { objectName: UpsertTable__c }]
`;

/** `sources` is a checkout whose nodes run: this one, or a copy that is wrong on purpose. */
export async function openStage(
  settings: Settings,
  sources = repository,
  onOpen?: (close: () => Promise<void>) => void,
): Promise<Stage> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.toReversed()) await step().catch(() => undefined);
  };
  onOpen?.(close);
  try {
    const folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    // As root the embedded database runs as another user, who must get there.
    await chmod(folder, 0o755);
    const server = await openServer(folder, closing);
    const [hubspot, salesforce] = await Promise.all([
      startSimulator('hubspot', settings, closing),
      startSimulator('salesforce', settings, closing),
    ]);
    const front = await startTlsFront(hubspot);
    closing.push(() => front.close());
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, certificate.cert);
    // The browser that connects an account comes along there, too.
    setDefaultCACertificates([...getCACertificates(), certificate.cert]);
    const apiKey = generateApiKey().key;
    const wires = await Promise.all([startForwarder(server.url), startForwarder(server.url)]);
    closing.push(() => Promise.all(wires.map((wire) => wire.close())));
    const urls = wires.map(({ url }) => url);
    const nodes = await createNodes(settings, sources, folder, {
      urls,
      apiKey,
      authorities,
      origins: { hubspot: front.url, salesforce },
    });
    closing.push(async () => {
      for (const node of nodes) node.signal('SIGKILL');
      await Promise.allSettled(nodes.map((node) => node.gone));
    });
    const database = openDatabase({ url: server.url, poolSize: 4, applicationName: 'svc fault suite' });
    closing.push(() => database.close());
    const made = await prepare(settings, nodes, { hubspot, salesforce, apiKey });
    const { crashDatabase } = server;
    return {
      folder,
      database,
      hubspot,
      salesforce,
      nodes,
      wires,
      apiKey,
      ...made,
      ...(crashDatabase ? { crashDatabase } : {}),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A database of its own on the server of `DATABASE_URL`, or a whole server, which then may be crashed. */
async function openServer(
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

async function startSimulator(
  name: 'hubspot' | 'salesforce',
  { seed }: Settings,
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

interface Around {
  /** The database, by each node's wire. */
  urls: string[];
  /** Where the nodes find the providers. */
  origins: Record<string, string>;
  /** A file with the certificate of those that are reached by TLS. */
  authorities: string;
  apiKey: string;
}

async function createNodes(
  settings: Settings,
  sources: string,
  folder: string,
  { urls, origins, authorities, apiKey }: Around,
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
        // The simulators do what they do before they break a connection.
        SVC_LATE_EFFECT_MS: '1000',
        SVC_PROVIDER_ORIGINS: Object.entries(origins)
          .map((pair) => pair.join('='))
          .join(','),
        NODE_EXTRA_CA_CERTS: authorities,
        SVC_EGRESS_ALLOW: '127.0.0.1',
        SVC_RETURN_URLS: 'http://app.example',
      };
      return createNode(sources, base, env, settings);
    }),
  );
}

/** Deploys, connects and installs through the first node, and makes the records that will be changed. */
async function prepare(
  settings: Settings,
  nodes: NodeProcess[],
  { hubspot, salesforce, apiKey }: { hubspot: string; salesforce: string; apiKey: string },
): Promise<{ projectId: string; seeded: Seeded }> {
  const [first, ...others] = nodes;
  if (!first) throw new Error('there are no nodes');
  first.start();
  await first.ready();
  for (const node of others) node.start();
  const call = callerOf(first.base, apiKey);
  const projects = await call<{ id: string }[]>('GET', '/v1/projects');
  const projectId = projects.body[0]?.id ?? '';
  const platform = {
    base: first.base,
    projectId,
    apiKey,
    hubspot,
    salesforce,
    call: (method: string, path: string, body?: unknown) =>
      call(method, /^\/(v1|write)\//.test(path) ? path : `/v1${path}`, body),
  } as unknown as Platform;
  await simulator(hubspot, 'POST', '/quotas', { burstMax: null });
  await simulator(salesforce, 'POST', '/quotas', { dailyApiRequests: 1e9, concurrentRequests: 1e6 });
  await deploy(platform, manifest);
  for (let at = 0; at < groups; at += 1) {
    await install(platform, 'hubspot-crm', `group-${at}`, configOf('companies', 'phone'));
    await install(platform, 'salesforce-crm', `group-${at}`, configOf('Account', 'Phone'));
  }
  const names = Array.from({ length: seededRecords(settings) }, (_, at) => `seeded ${at}`);
  const companies = await simulator<{ ids: string[] }>(hubspot, 'POST', '/data', {
    object: 'companies',
    records: names.map((name) => ({ properties: { name } })),
  });
  const accounts = await simulator<{ ids: string[] }>(salesforce, 'POST', '/data', {
    object: 'Account',
    records: names.map((Name) => ({ Name })),
  });
  for (const { url, ms } of [hubspot, salesforce].map((each) => ({ url: each, ms: settings.latencyMs })))
    await simulator(url, 'POST', '/settings', { latencyMs: ms });
  await Promise.all(others.map((node) => node.ready()));
  return { projectId, seeded: { companies: companies.ids, accounts: accounts.ids } };
}

/** Records of the object may be deleted, and the field is written only where it is empty. */
function configOf(objectName: string, field: string): Record<string, unknown> {
  const selectedFieldSettings = { [field]: { writeOnUpdate: 'ifEmpty' } };
  return {
    write: {
      objects: { [objectName]: { objectName, deletionSettings: { enabled: true }, selectedFieldSettings } },
    },
  };
}

function callerOf(base: string, apiKey: string) {
  return async <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> => {
    const answer = await fetch(base + path, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readAnswer<Body>(answer);
  };
}

/** Repeats a query while the database is away. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = 100; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(100);
    }
  }
}

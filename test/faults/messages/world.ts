import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../../../src/kit/db/database.ts';
import { bucket, secrets, startStore, type TestStore } from '../../../src/deliveries/s3/harness.fixture.ts';
import { createRandom } from '../../../simulator/kit/random.ts';
import { generateApiKey } from '../../../src/projects/keys/key-form.ts';
import { simulator } from '../../customer.ts';
import { startForwarder, type Forwarder } from '../../forwarder.ts';
import type { Platform } from '../../platform.ts';
import type { NodeProcess } from '../suite/node-process.ts';
import {
  createNodes,
  openServer,
  patiently,
  platformAt,
  repository,
  startSimulator,
} from '../suite/processes.ts';
import type { Disruption, Settings } from '../suite/settings.ts';
import { startReceiver, type Receiver, type ReceiverOptions } from './receiver.ts';

/** Two nodes and their database, a provider, and a receiver. */
export interface World {
  database: Database;
  /** Of the server that everything is on, by its socket. */
  databaseUrl: string;
  hubspot: string;
  nodes: NodeProcess[];
  wires: Forwarder[];
  platform: Platform;
  receiver: Receiver;
  crashDatabase?: () => Promise<unknown>;
  /** The steps that end everything; the last one that was added is done first. */
  closing: (() => Promise<unknown>)[];
  close(): Promise<void>;
}

export interface RunOptions {
  /** The sources that the nodes run, if not this checkout's. */
  sources?: string;
  say: (line: string) => void;
  /** Told how to end everything at once, as soon as there is something to end. */
  onOpen?: (close: () => Promise<void>) => void;
}

type WorldSettings = Disruption & Pick<Settings, 'skewMs'>;

export async function openWorld(
  settings: WorldSettings,
  receiving: ReceiverOptions,
  { sources = repository, onOpen }: RunOptions,
): Promise<World> {
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
    const hubspot = await startSimulator('hubspot', settings, closing);
    const receiver = await startReceiver(receiving);
    closing.push(() => receiver.close());
    const apiKey = generateApiKey().key;
    const wires = await Promise.all([startForwarder(server.url), startForwarder(server.url)]);
    closing.push(() => Promise.all(wires.map((wire) => wire.close())));
    const urls = wires.map(({ url }) => url);
    const nodes = await createNodes(settings, sources, folder, { urls, apiKey, origins: { hubspot } });
    closing.push(() => endAll(nodes));
    const database = openDatabase({ url: server.url, poolSize: 4, applicationName: 'svc fault suite' });
    closing.push(() => database.close());
    const platform = await startNodes(nodes, apiKey, hubspot);
    const world = { database, databaseUrl: server.url, hubspot, nodes, wires, platform, receiver };
    const { crashDatabase } = server;
    return { ...world, ...(crashDatabase ? { crashDatabase } : {}), closing, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The first one makes the tables. */
async function startNodes(nodes: readonly NodeProcess[], apiKey: string, hubspot: string): Promise<Platform> {
  const [first, ...others] = nodes;
  if (!first) throw new Error('there are no nodes');
  first.start();
  await first.ready();
  for (const node of others) node.start();
  await Promise.all(others.map((node) => node.ready()));
  return platformAt(first.base, apiKey, { hubspot });
}

async function endAll(nodes: readonly NodeProcess[]): Promise<void> {
  for (const node of nodes) node.signal('SIGKILL');
  await Promise.allSettled(nodes.map((node) => node.gone));
}

/** Throws unless the node did what it was asked for. */
export async function ask<Body>(
  platform: Platform,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await platform.call<Body>(method, path, body);
  if (answer.status < 300) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
}

/** A webhook for each endpoint of the receiver. Answers with their ids. */
export async function addWebhooks(
  { platform, receiver }: World,
  nameOf: (endpoint: number) => string,
): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, url] of receiver.urls.entries()) {
    const { id } = await ask<{ id: string }>(
      platform,
      'POST',
      `/projects/${platform.projectId}/destinations`,
      {
        name: nameOf(at),
        type: 'webhook',
        metadata: { url },
        secrets: { webhookSigningKey: receiver.signingKey },
      },
    );
    ids.push(id);
  }
  return ids;
}

/** A bucket of a store that refuses some objects, and does not answer for others that it keeps. */
export async function addStore(
  { platform, closing }: World,
  name: string,
  { faultRate, seed }: { faultRate: number; seed: number },
): Promise<{ id: string; store: TestStore }> {
  const store = await startStore();
  closing.push(() => store.close());
  const random = createRandom(seed, name);
  store.fault = () => (random.next() < faultRate ? random.pick(['refuse', 'lose'] as const) : undefined);
  const { id } = await ask<{ id: string }>(platform, 'POST', `/projects/${platform.projectId}/destinations`, {
    name,
    type: 's3',
    metadata: {
      bucket,
      region: 'us-east-1',
      endpointUrl: store.url,
      pathStyle: true,
      keyTemplate: '{{object}}/{{id}}',
    },
    secrets,
  });
  return { id, store };
}

/** A database of the customer's on the same server, and the wire to it. */
export async function addWarehouse(
  { databaseUrl, platform, closing }: World,
  name: string,
): Promise<{ id: string; warehouse: Database; wire: Forwarder }> {
  const admin = openDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'svc fault suite' });
  closing.push(() => admin.close());
  const database = `svc_warehouse_${randomBytes(6).toString('hex')}`;
  await admin.raw(`CREATE DATABASE ${database}`);
  closing.push(() => admin.raw(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
  const near = new URL(databaseUrl);
  near.pathname = `/${database}`;
  const warehouse = openDatabase({ url: near.href, poolSize: 2, applicationName: 'svc fault suite' });
  closing.push(() => warehouse.close());
  await warehouse.raw('CREATE SCHEMA crm');
  const wire = await startForwarder(near.href);
  closing.push(() => wire.close());
  const { username, password, host } = new URL(wire.url);
  const { id } = await ask<{ id: string }>(platform, 'POST', `/projects/${platform.projectId}/destinations`, {
    name,
    type: 'postgres',
    metadata: { url: `postgresql://${username}@${host}/${database}?sslmode=disable`, schema: 'crm' },
    secrets: { password: decodeURIComponent(password) },
  });
  return { id, warehouse, wire };
}

const ballast = '00000000-0000-0000-0000-000000000000';

/** What has not ended: work by its state and time, and operations. */
export async function whatIsLeft({ database }: World): Promise<string[]> {
  const rows = await patiently(() =>
    database.raw(
      `SELECT 'work ' || kind || ' ' || state || ' due ' || due_at AS what FROM work WHERE project_id <> $1
      UNION ALL SELECT 'operation ' || id || ' ' || resource FROM operation WHERE status = 'in_progress'
      UNION ALL SELECT 'counts of ' || operation_id FROM operation_delta`,
      [ballast],
    ),
  );
  return rows.map(({ what }) => String(what));
}

/** Moves the clock of the nodes; the provider's is moved before, so that nothing is changed in what they take for the past. */
export async function passTime({ database, hubspot }: World, ms: number): Promise<void> {
  await simulator(hubspot, 'POST', '/clock', { advanceMs: ms });
  await patiently(() => database.raw(`UPDATE clock SET shift = shift + $1::float8 * interval '1 ms'`, [ms]));
}

/** Milliseconds until all work is due; undefined while some is under way or due, or when there is none. */
export async function restsFor({ database }: World): Promise<number | undefined> {
  const [row] = await patiently(() =>
    database.raw(
      `SELECT extract(epoch FROM max(due_at) - svc_now())::float8 * 1000 AS ms FROM work WHERE project_id <> $1
      HAVING min(due_at) > svc_now() + interval '1 second' AND NOT bool_or(state = 1)`,
      [ballast],
    ),
  );
  return row && Number(row['ms']);
}

export async function terminate({ database }: World): Promise<void> {
  await database
    .raw(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    .catch(() => undefined);
}

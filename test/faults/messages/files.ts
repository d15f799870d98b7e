import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../simulator/kit/random.ts';
import { openDatabase, type Database } from '../../../src/kit/db/database.ts';
import { startEmbedded } from '../../../src/kit/db/embedded/index.ts';
import { generateApiKey } from '../../../src/projects/keys/key-form.ts';
import { freePort } from '../../free-port.ts';
import type { Platform } from '../../platform.ts';
import { createNode, type NodeProcess } from '../suite/node-process.ts';
import { patiently, platformAt, repository } from '../suite/processes.ts';
import { leaseMs } from '../suite/settings.ts';
import { eventType, happen, keepRecords, type Kept } from './made.ts';
import type { Findings } from './report.ts';
import type { DeliverySettings } from './settings.ts';
import { ask, type RunOptions } from './world.ts';

/** Messages to a file, which needs an embedded database, and so a single node. The node dies again and again. */
export async function runFiles(
  { files, fileKills, seed, silences, silenceMs }: DeliverySettings,
  { sources = repository, say, onOpen }: RunOptions,
): Promise<Omit<Findings, 'deeds'>> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.toReversed()) await step().catch(() => undefined);
  };
  onOpen?.(close);
  try {
    const desk = await openDesk(sources, { silences, silenceMs }, closing);
    const { database, projectId, destination, folder, node } = desk;
    const random = createRandom(seed, 'files');
    const kept = new Map<string, Kept>();
    const over = new AbortController();
    const kill = async (): Promise<void> => {
      for (let kills = 0; kills < fileKills; kills += 1) {
        const point = random.pick(['after-mark', 'before-record', 'after-record'] as const);
        await restart(node, `${point}:${2 + random.int(8)}`);
        await Promise.race([node.gone, sleep(5_000)]);
      }
      await restart(node);
      over.abort();
    };
    const load = async (): Promise<void> => {
      while (kept.size < files || !over.signal.aborted) {
        await keepRecords(database, { projectId, random, count: 4 }, () => destination, kept);
        await happen(database, { projectId, random, count: 2 }, [destination], kept);
        await sleep(150);
      }
    };
    await Promise.all([kill(), load()]);
    const left = await drain(database);
    say(`${kept.size} messages to a file, ${fileKills} kills`);
    return { left, ...(await judge(kept, join(folder, 'files', projectId))) };
  } finally {
    await close();
  }
}

interface Desk {
  database: Database;
  projectId: string;
  destination: string;
  /** The node's own. */
  folder: string;
  node: NodeProcess;
}

async function openDesk(
  sources: string,
  patience: Pick<DeliverySettings, 'silences' | 'silenceMs'>,
  closing: (() => Promise<unknown>)[],
): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  // As root the embedded database runs as another user, who must get there.
  await chmod(folder, 0o755);
  const apiKey = generateApiKey().key;
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
    SVC_BOOTSTRAP_API_KEY: apiKey,
    SVC_DATA_DIR: folder,
    SVC_PORT: String(port),
    SVC_PROXY_PORT: String(await freePort()),
    SVC_LOG_LEVEL: 'fatal',
    SVC_LEASE_MS: String(leaseMs),
  };
  const node = createNode(sources, base, env, patience);
  node.start();
  closing.push(async () => {
    node.signal('SIGKILL');
    await node.gone.catch(() => undefined);
    await (await startEmbedded({ dataDir: join(folder, 'postgres') })).stop();
  });
  await node.ready();
  const platform = await platformAt(base, apiKey, { hubspot: '' });
  const { projectId } = platform;
  const destination = await addFile(platform);
  return { database: await openBeside(node, folder, closing), projectId, destination, folder, node };
}

async function addFile(platform: Platform): Promise<string> {
  const path = `/projects/${platform.projectId}`;
  const { id } = await ask<{ id: string }>(platform, 'POST', `${path}/destinations`, {
    name: 'lines',
    type: 'file',
    metadata: { name: 'crm', maxBytes: 1_000_000, keep: 100 },
  });
  await ask(platform, 'PUT', `${path}/notifications`, {
    routes: [{ eventTypes: [eventType], destination: id }],
  });
  return id;
}

/** The embedded database outlives the node, and the next node takes it over. */
async function openBeside(
  node: NodeProcess,
  folder: string,
  closing: (() => Promise<unknown>)[],
): Promise<Database> {
  node.signal('SIGKILL');
  await node.gone;
  const server = await startEmbedded({ dataDir: join(folder, 'postgres') });
  await server.release();
  const database = openDatabase({ url: server.url, poolSize: 2, applicationName: 'svc fault suite' });
  closing.push(() => database.close());
  return database;
}

async function restart(node: NodeProcess, crashAt?: string): Promise<void> {
  node.signal('SIGKILL');
  await node.gone;
  node.start(crashAt);
  await Promise.race([node.ready(), node.gone]);
}

const drainMs = 60_000;

async function drain(database: Database): Promise<string[]> {
  const giveUpAt = performance.now() + drainMs;
  for (;;) {
    const rows = await patiently(() =>
      database.raw(
        `SELECT 'work ' || kind || ' ' || state || ' due ' || due_at AS what FROM work WHERE project_id <> '00000000-0000-0000-0000-000000000000'`,
      ),
    );
    if (rows.length === 0 || performance.now() > giveUpAt) return rows.map(({ what }) => String(what));
    await sleep(300);
  }
}

/** A line that a death cut off does not count; a whole one must be what was sent. */
async function judge(
  kept: ReadonlyMap<string, Kept>,
  folder: string,
): Promise<Pick<Findings, 'counts' | 'violations'>> {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const times = new Map<string, number>();
  const wrong: string[] = [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const id = idIn(line);
    if (id === undefined) continue;
    times.set(id, (times.get(id) ?? 0) + 1);
    if (!line.endsWith(`"message":${kept.get(id)?.body}}`)) wrong.push(id);
  }
  const repeats = [...times.values()].reduce((total, count) => total + count - 1, 0);
  return {
    counts: { file: times.size, fileRepeats: repeats },
    violations: { lostOfFile: [...kept.keys()].filter((id) => !times.has(id)), wrongInFile: wrong },
  };
}

function idIn(line: string): string | undefined {
  try {
    return (JSON.parse(line) as { id: string }).id;
  } catch {
    return undefined;
  }
}

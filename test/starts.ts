import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { builtOnce, svc } from '../src/cli/run.fixture.ts';
import { createEmptyDatabase, type TestDatabase } from './database.ts';
import { freePort } from './free-port.ts';

export const masterKey = (fill: number): string => `k1:${Buffer.alloc(32, fill).toString('base64')}`;

/** A process of svc that was started. */
export interface Started {
  child: ChildProcess;
  base: string;
  said: () => string;
  printed: () => string;
  ended: Promise<number | null>;
}

export interface Starts {
  /** Of the file; where the data goes unless a test says otherwise. */
  folder: () => string;
  /** A database without tables, dropped after the test. */
  empty: () => Promise<TestDatabase>;
  /** Dropped after the test. */
  keep: (database: TestDatabase) => void;
  /** The process as a service manager starts it, as it is installed: without a terminal, with nothing but these variables. It is killed after the test. */
  start: (
    given: Record<string, string>,
    args?: string[],
    command?: string[],
    output?: 'pipe' | number,
  ) => Promise<Started>;
}

/** Starts the processes of the tests of one file. */
export function useStarts(): Starts {
  let folder = '';
  const started: ChildProcess[] = [];
  const databases: TestDatabase[] = [];

  beforeAll(async () => {
    await builtOnce();
    folder = await mkdtemp(join(tmpdir(), 'svc-start-'));
    // As root the embedded server runs as another user, who must get there.
    await chmod(folder, 0o755);
  });
  afterEach(async () => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
    for (const database of databases.splice(0)) await database.drop();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  return {
    folder: () => folder,
    keep: (database) => void databases.push(database),
    async empty() {
      const database = await createEmptyDatabase();
      databases.push(database);
      return database;
    },
    async start(given, args = ['server'], command = [process.execPath, svc], output = 'pipe') {
      const port = await freePort();
      const [file = '', ...before] = command;
      const child = spawn(file, [...before, ...args], {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: folder,
          SVC_DATA_DIR: join(folder, 'data'),
          SVC_PORT: String(port),
          SVC_PROXY_PORT: String(await freePort()),
          ...(given['DATABASE_URL'] === undefined ? {} : { SVC_ENCRYPTION_KEYS: masterKey(7) }),
          ...given,
        },
        stdio: ['ignore', output, output],
      });
      started.push(child);
      let said = '';
      let printed = '';
      child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
      return {
        child,
        base: `http://127.0.0.1:${port}`,
        said: () => said + printed,
        printed: () => printed,
        ended,
      };
    },
  };
}

export const ready = ({ base, said }: Started) =>
  expect
    .poll(async () => (await fetch(`${base}/readyz`).catch(() => undefined))?.status ?? said(), {
      timeout: 60_000,
    })
    .toBe(200);

export const projectsBy = async ({ base }: Started, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${base}/v1/projects`, { headers })).status;

/** The command lines of the servers of PostgreSQL that name this folder. */
export async function serversOf(dataDir: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(dataDir) && line.includes('postgres'));
}

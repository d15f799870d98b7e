import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const { builtSvc } = inject('testRun');
/** What `npm run build:cli` makes, as it would be installed. */
export const svc = join(builtSvc, 'lib/begin.mjs');
let building: Promise<unknown> | undefined;

/** Whoever needs it first in a run builds it. */
export function builtOnce(): Promise<unknown> {
  building ??= existsSync(svc) ? Promise.resolve() : build();
  return building;
}

async function build(): Promise<void> {
  const own = `${builtSvc}-${process.pid}`;
  const script = ['scripts/node.mjs', 'scripts/build-cli.ts', '--missing', own];
  await promisify(execFile)(process.execPath, script);
  // Another may have been quicker.
  await rename(own, builtSvc).catch(() => rm(own, { recursive: true, force: true }));
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

interface RunOptions {
  input?: string | Buffer;
  env?: Record<string, string>;
  started?: (child: ChildProcess) => void;
}

/** A folder with the given files, where `svc` is run as a process of its own. */
export async function openFolder(files: Record<string, string> = {}) {
  await builtOnce();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-cli-')));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return {
    folder,
    run: (args: readonly string[], { input = '', env = {}, started }: RunOptions = {}): Promise<Ran> =>
      new Promise((done, failed) => {
        const child = spawn(process.execPath, [svc, ...args], {
          cwd: folder,
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: folder,
            XDG_CONFIG_HOME: join(folder, '.config'),
            ...env,
          },
        });
        const ran: Ran = { code: null, out: '', err: '' };
        child.stdout.on('data', (chunk: Buffer) => (ran.out += chunk.toString()));
        child.stderr.on('data', (chunk: Buffer) => (ran.err += chunk.toString()));
        child.on('error', failed);
        child.on('close', (code) => done({ ...ran, code }));
        child.stdin.on('error', () => undefined).end(input);
        started?.(child);
      }),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

export type Folder = Awaited<ReturnType<typeof openFolder>>;

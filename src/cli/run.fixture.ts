import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

// Below node_modules, so that the built program finds its dependencies.
const built = join(import.meta.dirname, '../../node_modules/.cache', `svc-cli-${process.pid}`);
/** What `npm run build:cli` makes, as it would be installed. */
export const svc = join(built, 'lib/begin.mjs');
let building: Promise<unknown> | undefined;

export function builtOnce(): Promise<unknown> {
  building ??= promisify(execFile)(process.execPath, ['scripts/node.mjs', 'scripts/build-cli.ts', built]);
  return building;
}

process.once('exit', () => rmSync(built, { recursive: true, force: true }));
// A test process that is killed leaves its own behind.
for (const name of existsSync(dirname(built)) ? readdirSync(dirname(built)) : []) {
  const [, pid] = /^svc-cli-(\d+)$/.exec(name) ?? [];
  if (pid !== undefined && !runs(Number(pid)))
    rmSync(join(dirname(built), name), { recursive: true, force: true });
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

interface RunOptions {
  input?: string;
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

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

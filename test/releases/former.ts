import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';

/**
 * The sources of the former release, packed: a checkout may lack the history that they stand in. They run with the dependencies of
 * this checkout. `test/releases/pack.ts` makes the file; when a release is out, it is made anew from that release.
 */
export const packed = join(import.meta.dirname, 'former.tar.br');

const repository = join(import.meta.dirname, '../..');
/** What a node needs to run, without tests. */
const parts = [
  'src',
  'migrations',
  'package.json',
  ':(exclude)*.test.ts',
  ':(exclude)*.testsuite.ts',
  ':(exclude)*.fixture.ts',
];

export interface Sources {
  folder: string;
  remove(): Promise<void>;
}

/** The former release: the packed one, or that of a commit of this checkout's history. */
export async function openFormer(ref?: string): Promise<Sources> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-former-'));
  await extract(
    ref === undefined ? brotliDecompressSync(await readFile(packed)) : await archiveOf(ref),
    folder,
  );
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The sources of a commit as a tar archive; the files that are named are those of this checkout. */
export async function archiveOf(ref: string, files: readonly string[] = []): Promise<Buffer> {
  const archive = await output('git', ['archive', '--format=tar', ref, ...parts]);
  if (files.length === 0) return archive;
  const folder = await mkdtemp(join(tmpdir(), 'svc-former-'));
  await extract(archive, folder);
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(repository, file), join(folder, file));
  }
  const changed = await output('tar', ['-c', '-C', folder, 'src', 'migrations', 'package.json']);
  await rm(folder, { recursive: true, force: true });
  return changed;
}

async function output(command: string, args: readonly string[]): Promise<Buffer> {
  const settings = { cwd: repository, encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 } as const;
  return (await promisify(execFile)(command, args, settings)).stdout;
}

async function extract(archive: Buffer, folder: string): Promise<void> {
  const tar = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] });
  tar.stdin.end(archive);
  const [code] = (await once(tar, 'exit')) as [number];
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}

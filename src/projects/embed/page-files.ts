import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from '../../kit/log.ts';
import { problem } from '../../kit/problem.ts';

/** A file of the page, as it is sent. */
export interface PageFile {
  type: string;
  bytes: Buffer;
  gzipped: Buffer;
}

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'ui/embed/dist/page');
const sources = ['ui/embed/src', 'ui/client/src'];
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * The page as `scripts/build-embed.ts` makes it, in memory. A checkout has only its sources: the first request builds it there, and again
 * after they changed and the process was started anew.
 */
export function createPageFiles(log: Logger): { get(name: string): Promise<PageFile | undefined> } {
  let reading: Promise<Map<string, PageFile>> | undefined;
  return {
    async get(name) {
      reading ??= read(log);
      const files = await reading.catch((cause: unknown) => {
        reading = undefined;
        log.warn({ err: cause }, 'the page of connect links is not built');
        throw problem('page-not-built', { cause });
      });
      return files.get(name);
    },
  };
}

async function read(log: Logger): Promise<Map<string, PageFile>> {
  const built = await changedAt(join(folder, 'index.html'));
  const changed = await Promise.all(sources.map((source) => newestIn(join(root, source))));
  if (built < Math.max(...changed)) {
    log.info('building the page of connect links');
    const script = ['scripts/node.mjs', 'scripts/build-embed.ts', 'page'];
    await promisify(execFile)(process.execPath, script, { cwd: root, timeout: 60_000 });
  }
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => types[extname(name)] !== undefined);
  return new Map(
    await Promise.all(files.map(async (name) => [name.replaceAll('\\', '/'), await open(name)] as const)),
  );
}

async function open(name: string): Promise<PageFile> {
  const bytes = await readFile(join(folder, name));
  return { type: types[extname(name)] ?? '', bytes, gzipped: await promisify(gzip)(bytes) };
}

/** 0 for what is not there, such as the sources in an image. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

async function newestIn(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true }).catch(() => []);
  return Math.max(0, ...(await Promise.all(names.map((name) => changedAt(join(path, name))))));
}

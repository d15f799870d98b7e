import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../log.ts';
import { problem } from '../problem.ts';

/** What `scripts/build-pages.ts` builds for browsers, by its name there. */
export interface BuiltPage {
  name: 'connect' | 'console';
  /** What is told of it in the log. */
  title: string;
  /** Below the root of the repository or of the package, as all that is named here. */
  folder: string;
  sources: readonly string[];
}

/** A file of a page, as it is sent. */
interface PageFile {
  type: string;
  bytes: Buffer;
  gzip: Buffer;
  br: Buffer;
}

export interface PageFiles {
  /** Sends `index.html` or what is under `assets/`; a file that is not there is a problem. */
  send(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply>;
}

/** Of the package that `scripts/build-cli.ts` makes, where this is part of a file in `lib`; otherwise of the repository. */
const root = join(
  import.meta.dirname,
  existsSync(join(import.meta.dirname, '../package.json')) ? '..' : '../../..',
);
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * A page as `scripts/build-pages.ts` makes it, in memory. A checkout has only its sources: the first request builds it there, and again
 * after they changed and the process was started anew.
 */
export function createPageFiles(page: BuiltPage, log: Logger): PageFiles {
  let reading: Promise<Map<string, PageFile>> | undefined;
  return {
    async send(request, reply, name) {
      reading ??= read(page, log);
      const files = await reading.catch((cause: unknown) => {
        reading = undefined;
        log.warn({ err: cause }, `${page.title} is not built`);
        throw problem('page-not-built', { cause });
      });
      const file = files.get(name);
      if (!file) throw problem('not-found', { detail: 'There is no such file of the page.' });
      return send(request, reply, name, file);
    },
  };
}

function send(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  name: string,
  { type, ...file }: PageFile,
): FastifyReply {
  const encoding = (['br', 'gzip'] as const).find((known) => takes(headers['accept-encoding'], known));
  // The name of an asset changes with what is in it.
  const caching = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  reply.header('content-type', type).header('cache-control', caching).header('vary', 'accept-encoding');
  if (encoding) reply.header('content-encoding', encoding);
  return reply.send(file[encoding ?? 'bytes']);
}

const takes = (accepted: string | string[] | undefined, encoding: string): boolean =>
  new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(String(accepted ?? ''));

async function read(page: BuiltPage, log: Logger): Promise<Map<string, PageFile>> {
  if (await isStale(page)) {
    log.info(`building ${page.title}, once`);
    const script = ['scripts/node.mjs', 'scripts/build-pages.ts', page.name];
    await promisify(execFile)(process.execPath, script, { cwd: root, timeout: 120_000 });
  }
  const folder = join(root, page.folder);
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => types[extname(name)] !== undefined);
  return new Map(
    await Promise.all(
      files.map(async (name) => [name.replaceAll('\\', '/'), await open(join(folder, name))] as const),
    ),
  );
}

async function open(path: string): Promise<PageFile> {
  const bytes = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [gzipped, br] = await Promise.all([
    promisify(gzip)(bytes),
    promisify(brotliCompress)(bytes, { params }),
  ]);
  return { type: types[extname(path)] ?? '', bytes, gzip: gzipped, br };
}

/** Whether it was never built, or its sources changed since. An image, or the package, has no sources. */
async function isStale({ folder, sources }: BuiltPage): Promise<boolean> {
  const built = await changedAt(join(root, folder, 'index.html'));
  const changed = await Promise.all(sources.map((source) => newestIn(join(root, source))));
  return built < Math.max(...changed);
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

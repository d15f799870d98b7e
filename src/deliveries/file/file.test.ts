import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ground } from '../../kit/ground.ts';
import type { Delivered, OutgoingMessage } from '../kind.ts';
import { testDestinationKind, testMessage, type KindWorld } from '../kind.testsuite.ts';
import { createFile } from './index.ts';
import type { FileMetadata } from './schema.ts';

const ground = {} as Ground;
const projectId = testMessage().projectId;

interface Line {
  id: string;
  time: string;
  replay: boolean;
  message: { result: { raw: { id: string; name: string } }[] };
}

async function linesIn(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

testDestinationKind({
  type: 'file',
  check: { production: false, isAllowed: () => false },
  async open(): Promise<KindWorld> {
    const filesFolder = await mkdtemp(join(tmpdir(), 'svc-files-'));
    const folder = join(filesFolder, projectId);
    const path = join(folder, 'people.ndjson');
    const aside = join(filesFolder, 'aside');
    let isAside = false;
    return {
      kind: createFile({ filesFolder }),
      metadata: { name: 'people' },
      secrets: {},
      nowhere: { name: 'others' },
      /** What refuses is a folder in the place of the file, which waits beside it. */
      async behave(how) {
        if (how === 'well' && isAside) {
          await rm(path, { recursive: true });
          await rename(aside, path);
        }
        if (how === 'refuses') {
          await mkdir(folder, { recursive: true });
          await writeFile(path, '', { flag: 'a' });
          await rename(path, aside);
          await mkdir(path);
        }
        isAside = how === 'refuses';
      },
      async arrived() {
        const lines = new Map((await linesIn(path)).map((line) => [line.id, line]));
        return [...lines.values()]
          .flatMap(({ message }) => message.result.map(({ raw }) => `${raw.id} ${raw.name}`))
          .toSorted();
      },
      context: { ground },
      close: () => rm(filesFolder, { recursive: true }),
    };
  },
  shown: ({ id, name }) => `${id} ${name}`,
  nonsense: [
    ['no name', {}, 'metadata.name'],
    ['a path', { name: '../other' }, 'metadata.name'],
    ['a name that a rotated file has', { name: 'people.1' }, 'metadata.name'],
    ['an absolute path', { name: '/etc/passwd' }, 'metadata.name'],
    ['a NUL character', { name: 'a\0' }, 'metadata.name'],
    ['a size that holds no message', { name: 'a', maxBytes: 10 }, 'metadata.maxBytes'],
    ['nothing to keep', { name: 'a', keep: 0 }, 'metadata.keep'],
    ['a property of another kind', { name: 'a', url: 'https://example.com' }, 'metadata.url'],
  ],
});

describe('deliveries/file', () => {
  let filesFolder: string;
  let folder: string;
  beforeAll(async () => {
    filesFolder = await mkdtemp(join(tmpdir(), 'svc-files-'));
    folder = join(filesFolder, projectId);
  });
  afterAll(() => rm(filesFolder, { recursive: true }));

  const send = (
    metadata: FileMetadata,
    message: OutgoingMessage = testMessage(),
    kind = createFile({ filesFolder }),
  ): Promise<Delivered> =>
    kind.deliver(
      message,
      { id: 'd', projectId, name: 'mine', metadata, secrets: {} },
      { ground, signal: new AbortController().signal, mayStillSend: () => true },
    );

  it('is refused in production, when it is made and where it was made before', async () => {
    const kind = createFile({});
    expect(kind.check({ name: 'a' }, { production: true, isAllowed: () => true })).toEqual([
      {
        in: 'body',
        name: 'type',
        detail: expect.stringMatching(/development only.*webhook or s3/) as string,
      },
    ]);
    expect(await send({ name: 'a' }, undefined, kind)).toEqual({
      kind: 'failed',
      error: expect.stringMatching(/development only/) as string,
    });
  });

  it('has a line for each message, whatever white space that has', async () => {
    const body = '{\r\n  "result": [{"raw": {"n": 1.50, "text": "a\\nb\u2028"}}]\n}';
    const message = testMessage(['Ann'], { body: async () => Buffer.from(body), replay: true });
    await send({ name: 'lines' }, message);
    const [line, ...others] = (await readFile(join(folder, 'lines.ndjson'), 'utf8')).trimEnd().split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(line!)).toMatchObject({
      id: message.id,
      replay: true,
      message: JSON.parse(body) as object,
    });
    expect(line).toContain('1.50');
  });

  it('keeps lines whole when many come at once, and puts a full file aside', async () => {
    const kind = createFile({ filesFolder });
    const metadata = { name: 'many', maxBytes: 1_000_000, keep: 2 };
    const sent = Array.from({ length: 45 }, (_, at) =>
      testMessage(['Ann'], {
        id: `m${at}`,
        body: async () => Buffer.from(`{"result":[],"fill":"${'x'.repeat(100_000)}"}`),
      }),
    );
    const results = await Promise.all(sent.map((message) => send(metadata, message, kind)));
    expect(new Set(results.map((result) => result.kind))).toEqual(new Set(['delivered']));
    const names = (await readdir(folder)).filter((name) => name.startsWith('many')).toSorted();
    expect(names).toEqual(['many.1.ndjson', 'many.2.ndjson', 'many.ndjson']);
    const kept = await Promise.all(names.map((name) => linesIn(join(folder, name))));
    // Nine fit a file; two of them were put aside, and the oldest was removed.
    expect(kept.map((lines) => lines.length)).toEqual([9, 9, 9]);
    expect(kept[2]?.at(-1)?.id).toBe('m44');
  });

  it('begins a new line behind half a line of a process that was killed', async () => {
    const metadata = { name: 'torn' };
    await send(metadata);
    const path = join(folder, 'torn.ndjson');
    const whole = await readFile(path, 'utf8');
    await writeFile(path, `${whole}{"id":"half`);
    const message = testMessage();
    await send(metadata, message);
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2]!)).toMatchObject({ id: message.id });
  });

  it('writes to nothing that is no file, such as a socket', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket.ndjson'), resolve));
    expect(await send({ name: 'socket' })).toEqual({
      kind: 'failed',
      error: expect.stringMatching(/is no file: move away.*metadata\.name/) as string,
    });
    await new Promise((resolve) => server.close(resolve));
  });

  it.skipIf(process.getuid?.() === 0)('says where it may not write', async () => {
    await chmod(folder, 0o500);
    expect(await send({ name: 'refused' })).toMatchObject({
      error: expect.stringMatching(/EACCES.*SVC_DATA_DIR/) as string,
    });
    await chmod(folder, 0o700);
  });

  it('says what is in the way of its folder', async () => {
    await writeFile(join(filesFolder, 'blocked'), '');
    const kind = createFile({ filesFolder: join(filesFolder, 'blocked') });
    expect(await send({ name: 'a' }, undefined, kind)).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/could not be written \(E\w+\).*SVC_DATA_DIR/) as string,
    });
  });
});

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../database.ts';
import { startForwarder, type Forwarder } from '../forwarder.ts';
import { freePort } from '../free-port.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
const hasTools = await run('sh', ['-c', 'command -v unshare && command -v setpriv']).then(
  () => true,
  () => false,
);

interface Dockerfile {
  /** What the last stage copies from the repository, and where to. */
  copies: { from: string[]; to: string }[];
  env: Record<string, string>;
  user: string;
  entrypoint: string[];
  command: string[];
  health: string[];
}

async function readDockerfile(): Promise<Dockerfile> {
  const text = (await readFile(join(root, 'deploy/Dockerfile'), 'utf8')).replaceAll(/\\\n\s*/g, ' ');
  const stage = text.slice(text.lastIndexOf('\nFROM '));
  const lines = (word: string): string[] =>
    [...stage.matchAll(new RegExp(`^${word} (.*)$`, 'gm'))].map(([, rest = '']) => rest);
  const list = (line = '[]'): string[] => JSON.parse(line.slice(line.indexOf('['))) as string[];
  return {
    copies: lines('COPY')
      .filter((line) => !line.startsWith('--from'))
      .map((line) => ({ from: line.split(' ').slice(0, -1), to: line.split(' ').at(-1) ?? '' })),
    env: Object.fromEntries(lines('ENV').flatMap((line) => line.split(' ').map((pair) => pair.split('=')))),
    user: lines('USER')[0] ?? '',
    entrypoint: list(lines('ENTRYPOINT')[0]),
    command: list(lines('CMD')[0]),
    health: list(/HEALTHCHECK .*CMD (\[.*\])/.exec(stage)?.[1]),
  };
}

// In place of a container engine: the files of the image, its user and a file system that is read-only everywhere.
describe.skipIf(!isRoot || !hasTools)('test/deploy/image: needs root, unshare and setpriv', () => {
  let image: string;
  let docker: Dockerfile;
  let node: string;
  let database: TestDatabase;
  /** The user of the image may not reach the server's socket. */
  let wire: Forwarder;
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    docker = await readDockerfile();
    image = await mkdtemp(join(tmpdir(), 'svc-image-'));
    await chmod(image, 0o755);
    for (const { from, to } of docker.copies)
      for (const path of from) {
        const isFolder = to.endsWith('/');
        const target = join(image, isFolder ? join(to, path.split('/').at(-1) ?? '') : to);
        await mkdir(join(target, '..'), { recursive: true });
        const filter = (one: string): boolean => !/\.(test|testsuite|fixture)\.ts$/.test(one);
        await cp(join(root, path), target, { recursive: true, filter });
      }
    const { stdout } = await run('npm', ['ls', '--all', '--parseable', '--omit=dev', '--omit=optional'], {
      cwd: root,
      maxBuffer: 10_000_000,
    });
    const modules = stdout.split('\n').filter((path) => path.includes('/node_modules/'));
    for (const path of modules)
      await cp(path, join(image, relative(root, path)), {
        recursive: true,
        filter: (one) => !one.slice(path.length).includes('/node_modules'),
      });
    node = join(image, 'node-of-the-base-image');
    await copyFile(process.execPath, node);
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await wire?.close();
    await database?.drop();
    await rm(image, { recursive: true, force: true });
  });

  /** The command as the image's user, who may write nowhere. */
  function start(
    command: string[],
    env: Record<string, string>,
  ): { child: ChildProcess; said: () => string } {
    const [uid = '', gid = ''] = docker.user.split(':');
    const words = command.map((word) => (word === 'node' ? node : word));
    const child = spawn(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        'for m in $(cut -d" " -f2 /proc/mounts); do mount -o remount,ro,bind "$m" 2>/dev/null; done; cd "$0"; exec "$@"',
        image,
        'setpriv',
        `--reuid=${uid}`,
        `--regid=${gid}`,
        '--clear-groups',
        ...words,
      ],
      { env: { PATH: process.env['PATH'] ?? '', ...docker.env, ...env } },
    );
    started.push(child);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { child, said: () => said };
  }

  const ended = (child: ChildProcess): Promise<number | null> =>
    new Promise((resolve) => child.once('exit', resolve));

  it('migrates, serves, is healthy and stops, as a user without rights on a read-only file system', async () => {
    database = await createEmptyDatabase();
    wire = await startForwarder(database.url);
    const apiKey = 'k'.repeat(40);
    const [port, proxyPort, healthPort] = [await freePort(), await freePort(), await freePort()];
    const env = {
      DATABASE_URL: wire.url,
      SVC_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      SVC_BOOTSTRAP_API_KEY: apiKey,
      SVC_PORT: String(port),
      SVC_PROXY_PORT: String(proxyPort),
      SVC_HEALTH_PORT: String(healthPort),
      SVC_DRAIN_MS: '0',
    };
    const migrated = start([...docker.entrypoint, 'migrate'], env);
    expect({ code: await ended(migrated.child), said: migrated.said() }).toEqual({
      code: 0,
      said: expect.any(String),
    });

    const { child, said } = start([...docker.entrypoint, ...docker.command], env);
    const over = ended(child);
    const health = docker.health.map((word) => word.replace(':4002/', `:${healthPort}/`));
    const isHealthy = async (): Promise<number | null> => ended(start(health, {}).child);
    await expect.poll(isHealthy, { timeout: 30_000, interval: 500, message: said() }).toBe(0);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/projects`, { headers: { 'x-api-key': apiKey } });
    expect(answer.status).toBe(200);
    child.kill('SIGTERM');
    expect({ code: await over, said: said() }).toEqual({ code: 0, said: expect.any(String) });
    expect(said()).not.toMatch(/EROFS|EACCES|read-only/);
    expect(await isHealthy()).toBe(1);
  }, 90_000);
});

import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { svc } from '../../src/cli/run.fixture.ts';
import { readConfig } from '../../src/config.ts';
import { makeFirstKey } from '../../src/first-key.ts';
import { createTestDatabase } from '../database.ts';
import { startForwarder, type Forwarder } from '../forwarder.ts';
import { masterKey, projectsBy, ready, serversOf, useStarts } from '../starts.ts';

describe('test/journeys/start-keys', () => {
  const { folder, empty, keep, start } = useStarts();

  it('a first start without a terminal leaves its key in a file, in a folder that it makes', async () => {
    const { url: DATABASE_URL } = await empty();
    const SVC_DATA_DIR = join(folder(), 'not', 'yet', 'there');
    const node = await start({ DATABASE_URL, SVC_DATA_DIR });
    await ready(node);
    const path = join(SVC_DATA_DIR, 'first-api-key');
    const key = (await readFile(path, 'utf8')).trim();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(node.said()).toContain(path);
    expect(node.said()).not.toContain(key);
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);

    // Another database with the same folder: nobody may have moved the key of the first.
    const other = await start({ DATABASE_URL: (await empty()).url, SVC_DATA_DIR });
    await ready(other);
    const [, aside = ''] = /that was in \S+ is in (\S+) now/.exec(other.said()) ?? [];
    expect((await readFile(aside, 'utf8')).trim()).toBe(key);
    expect((await readFile(path, 'utf8')).trim()).not.toBe(key);
  }, 90_000);

  it('makes no other key beside a database that was sealed with one', async () => {
    const dataDir = join(folder(), 'lost-keys');
    const path = join(dataDir, 'encryption-keys');
    const first = await start({ SVC_DATA_DIR: dataDir });
    await ready(first);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const keys = await readFile(path);
    await rm(path);
    const second = await start({ SVC_DATA_DIR: dataDir });
    expect(await second.ended).toBe(1);
    expect(second.said()).toContain(`${path} is missing, and the database was sealed with its key k1`);
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await writeFile(path, keys, { mode: 0o600 });
    await ready(await start({ SVC_DATA_DIR: dataDir }));
  }, 120_000);

  it('a file of master keys that holds none is named, and nothing is made beside it', async () => {
    const dataDir = join(folder(), 'broken-keys');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'encryption-keys'), 'k1:abc\n');
    const node = await start({ SVC_DATA_DIR: dataDir });
    expect(await node.ended).toBe(1);
    expect(node.said()).toContain(
      `${join(dataDir, 'encryption-keys')} holds no master keys: each entry must be <key id>:<32 bytes in base64>. Put the file back`,
    );
    expect(await readdir(dataDir)).toEqual(['encryption-keys']);
  }, 60_000);

  it('a key that cannot be kept is not made: the next start makes it', async () => {
    const database = await empty();
    const blocked = join(folder(), 'a-file');
    await writeFile(blocked, '');
    const failing = await start({ DATABASE_URL: database.url, SVC_DATA_DIR: join(blocked, 'data') });
    expect(await failing.ended).toBe(1);
    expect(failing.said()).toContain('a-file');
    expect(await database.database.raw('SELECT count(*)::int AS count FROM api_key')).toEqual([{ count: 0 }]);
    const SVC_DATA_DIR = join(folder(), 'second');
    await ready(await start({ DATABASE_URL: database.url, SVC_DATA_DIR }));
    expect(await readFile(join(SVC_DATA_DIR, 'first-api-key'), 'utf8')).toMatch(/^svc_/);
  }, 90_000);

  it('a first key that finds no room on the disk leaves nothing, and the start says where and what to do', async () => {
    const { url: DATABASE_URL } = await empty();
    const SVC_DATA_DIR = join(folder(), 'full');
    const path = join(SVC_DATA_DIR, 'first-api-key');
    await mkdir(SVC_DATA_DIR);
    // No byte may be written to a file.
    const limited = ['sh', '-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, svc];
    const full = await start({ DATABASE_URL, SVC_DATA_DIR }, ['migrate'], limited);
    expect(await full.ended).toBe(1);
    expect(full.said()).toContain(`${path} could not be written (make room there, or set SVC_DATA_DIR`);
    expect(full.said()).toContain('file too large');
    expect(await readdir(SVC_DATA_DIR)).toEqual([]);
    const next = await start({ DATABASE_URL, SVC_DATA_DIR }, ['migrate']);
    expect(await next.ended).toBe(0);
    expect(next.said()).not.toContain('of another database');
    expect(await readdir(SVC_DATA_DIR)).toEqual(['first-api-key']);
  }, 90_000);

  /** The first key of a database that did not say whether it stored it, in a file, once that process is gone. */
  async function leaveUnfinished(wire: Forwarder, SVC_DATA_DIR: string): Promise<string> {
    wire.loseWay('INSERT INTO api_key', 'COMMIT');
    const node = await start({ DATABASE_URL: wire.url, SVC_DATA_DIR }, ['migrate']);
    const named = /It may be valid, and is in (\S+\.unfinished);/;
    await expect.poll(node.said, { timeout: 30_000 }).toMatch(named);
    node.child.kill('SIGKILL');
    await node.ended;
    wire.heal();
    return named.exec(node.said())?.[1] ?? '';
  }

  it('a first key whose commit was not answered is kept, and named by the start that finds it stored', async () => {
    const database = await createTestDatabase();
    keep(database);
    const wire = await startForwarder(database.url);
    const SVC_DATA_DIR = join(folder(), 'unanswered');
    const path = join(SVC_DATA_DIR, 'first-api-key');
    try {
      const file = await leaveUnfinished(wire, SVC_DATA_DIR);
      expect(await database.database.raw('SELECT label FROM api_key')).toEqual([{ label: 'first key' }]);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const next = await start({ DATABASE_URL: wire.url, SVC_DATA_DIR }, ['api']);
      await ready(next);
      expect(next.said()).toContain(`is in ${path}; move it to a safe place`);
      const key = (await readFile(path, 'utf8')).trim();
      expect(await projectsBy(next, { 'x-api-key': key })).toBe(200);
      expect(await readdir(SVC_DATA_DIR)).toEqual(['first-api-key', 'welcome-link']);
    } finally {
      await wire.close();
    }
  }, 90_000);

  it('an unfinished first key gets its name once where two processes find it at once', async () => {
    const database = await createTestDatabase();
    keep(database);
    const wire = await startForwarder(database.url);
    const SVC_DATA_DIR = join(folder(), 'two-processes');
    const path = join(SVC_DATA_DIR, 'first-api-key');
    try {
      const file = await leaveUnfinished(wire, SVC_DATA_DIR);
      const text = await readFile(file, 'utf8');
      const config = readConfig({
        DATABASE_URL: wire.url,
        SVC_DATA_DIR,
        SVC_ENCRYPTION_KEYS: masterKey(7),
      });
      const said: string[] = [];
      for (let n = 0; n < 20; n += 1) {
        await writeFile(file, text, { mode: 0o600 });
        await rm(path, { force: true });
        await Promise.all([1, 2, 3].map(() => makeFirstKey(config, wire.url, (line) => said.push(line))));
        expect(await readFile(path, 'utf8')).toBe(text);
      }
      expect(said).toEqual(
        Array.from({ length: 20 }, () => expect.stringContaining('move it to a safe place') as string),
      );
    } finally {
      await wire.close();
    }
  }, 90_000);

  it('an unfinished first key of one database stays where another one is started in the same folder', async () => {
    const database = await createTestDatabase();
    keep(database);
    const wire = await startForwarder(database.url);
    const SVC_DATA_DIR = join(folder(), 'two-databases');
    try {
      const file = await leaveUnfinished(wire, SVC_DATA_DIR);
      const key = (await readFile(file, 'utf8')).trim();
      const other = await start({ DATABASE_URL: (await empty()).url, SVC_DATA_DIR }, ['migrate']);
      expect(await other.ended).toBe(0);
      expect(other.said()).toContain(`${file} has a first API key that this database does not know`);
      const back = await start({ DATABASE_URL: wire.url, SVC_DATA_DIR }, ['api']);
      await ready(back);
      expect(back.said()).toContain('The key of another database');
      expect((await readFile(join(SVC_DATA_DIR, 'first-api-key'), 'utf8')).trim()).toBe(key);
      expect(await projectsBy(back, { 'x-api-key': key })).toBe(200);
    } finally {
      await wire.close();
    }
  }, 120_000);

  it('a first key whose commit did not arrive is made anew by the same start', async () => {
    const database = await createTestDatabase();
    keep(database);
    const wire = await startForwarder(database.url);
    const SVC_DATA_DIR = join(folder(), 'not-arrived');
    try {
      wire.breakAt('INSERT INTO api_key', 'COMMIT');
      const migrating = await start({ DATABASE_URL: wire.url, SVC_DATA_DIR }, ['migrate']);
      expect(await migrating.ended).toBe(0);
      expect(migrating.said()).toContain('It may be valid');
      expect(migrating.said()).not.toContain('of another database');
      expect(await readdir(SVC_DATA_DIR)).toEqual(['first-api-key']);
      const key = (await readFile(join(SVC_DATA_DIR, 'first-api-key'), 'utf8')).trim();
      const ids = await database.database.raw('SELECT id FROM api_key');
      expect(ids).toEqual([{ id: key.split('_')[1] }]);
    } finally {
      await wire.close();
    }
  }, 60_000);

  it('a worker makes no key; migrate does; operator-keys create makes one at any time', async () => {
    const database = await empty();
    const count = async () =>
      (await database.database.raw('SELECT count(*)::int AS count FROM api_key'))[0]?.['count'];
    const given = { DATABASE_URL: database.url, SVC_DATA_DIR: join(folder(), 'third') };
    const worker = await start(given, ['worker']);
    await expect.poll(worker.said, { timeout: 60_000 }).toContain('svc worker is ready');
    expect(await count()).toBe(0);
    expect(await (await start(given, ['migrate'])).ended).toBe(0);
    expect(await count()).toBe(1);
    const made = await start(given, ['operator-keys', 'create', '--full', '--label', 'lost the first']);
    expect(await made.ended).toBe(0);
    const node = await start(given, ['api']);
    await ready(node);
    const key = made.printed().trim();
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);
    expect((await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': key } })).status).toBe(200);
    const log = await database.database.raw(
      "SELECT actor_kind FROM audit_log WHERE action = 'apiKey.created' ORDER BY id",
    );
    expect(log).toEqual([{ actor_kind: 'operator' }, { actor_kind: 'operator' }]);
    expect(await (await start(given, ['operator-keys', 'create'])).ended).toBe(2);
    const nobodys = await start(given, ['operator-keys', 'create', '--full', '--project', 'none']);
    expect(await nobodys.ended).toBe(1);
    expect(nobodys.said()).toContain('svc operator-keys create failed: there is no project none');
  }, 120_000);

  it('operator-keys create works beside a running svc, says where, and makes no database', async () => {
    const SVC_DATA_DIR = join(folder(), 'beside');
    await mkdir(SVC_DATA_DIR, { mode: 0o755 });
    await chmod(folder(), 0o755);
    const node = await start({ SVC_DATA_DIR });
    await ready(node);
    const made = await start({ SVC_DATA_DIR }, ['operator-keys', 'create', '--full']);
    expect([await made.ended, made.said()]).toEqual([0, expect.stringContaining(`in ${SVC_DATA_DIR}`)]);
    expect(await projectsBy(node, { 'x-api-key': made.printed().trim() })).toBe(200);
    const elsewhere = join(folder(), 'elsewhere');
    const lost = await start({ SVC_DATA_DIR: elsewhere }, ['operator-keys', 'create', '--full']);
    expect(await lost.ended).toBe(1);
    expect(lost.said()).toContain(`no embedded database in ${elsewhere}`);
    await expect(stat(elsewhere)).rejects.toThrow('ENOENT');
    const { url: DATABASE_URL, database } = await empty();
    const foreign = await start({ DATABASE_URL }, ['operator-keys', 'create', '--full']);
    expect(await foreign.ended).toBe(1);
    const { host, pathname } = new URL(DATABASE_URL);
    expect(foreign.said()).toContain(`the database ${host}${pathname} of DATABASE_URL is not one of svc`);
    expect(await database.raw("SELECT relname FROM pg_class WHERE relname = 'migrations'")).toEqual([]);
    node.child.kill('SIGTERM');
    expect(await node.ended).toBe(0);
    expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
  }, 180_000);

  it('SVC_BOOTSTRAP_API_KEY may be any 32 characters', async () => {
    const { url: DATABASE_URL } = await empty();
    const key = 'correct/horse+battery=staple.0123';
    const node = await start({ DATABASE_URL, SVC_BOOTSTRAP_API_KEY: key });
    await ready(node);
    expect(await projectsBy(node, { 'x-api-key': key })).toBe(200);
    expect(await projectsBy(node, { authorization: `Bearer ${key}` })).toBe(200);
    expect(await projectsBy(node, { 'x-api-key': `${key}4` })).toBe(401);
    const short = await start({ DATABASE_URL, SVC_BOOTSTRAP_API_KEY: 'too short' });
    expect(await short.ended).toBe(1);
    expect(short.said()).toContain('SVC_BOOTSTRAP_API_KEY must be 32');
  }, 90_000);

  it('a node with another master key does not start, and one with the right one does', async () => {
    const { url: DATABASE_URL } = await empty();
    const first = await start({ DATABASE_URL });
    await ready(first);
    for (const SVC_ENCRYPTION_KEYS of [masterKey(8), masterKey(9).replace('k1', 'k2')]) {
      const node = await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS });
      expect(await node.ended).toBe(1);
      expect(node.said()).toMatch(/master key/);
    }
    const both = `${masterKey(9).replace('k1', 'k2')},${masterKey(7)}`;
    await ready(await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS: both }));
    await ready(await start({ DATABASE_URL, SVC_ENCRYPTION_KEYS: masterKey(9).replace('k1', 'k2') }));
  }, 120_000);
});

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApp, checkKeys } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { findingsOf, judgeRoom } from '../../src/doctor.ts';
import { judgeEnd, judgePem } from '../../src/kit/certificates.ts';
import { faultOfVersion, judgeClock } from '../../src/kit/db/examine.ts';
import { startEmbedded } from '../../src/kit/db/embedded/index.ts';
import type { Finding } from '../../src/kit/finding.ts';
import { createLog } from '../../src/kit/log.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { startPlatform } from '../platform.ts';
import { serversOf, useStarts } from '../starts.ts';

const log = createLog('silent');
const keys = (fill: number, id = 'k1'): string => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;

describe('test/journeys/doctor', () => {
  const starts = useStarts();
  let test: TestDatabase;
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
    test = await createTestDatabase();
    await checkKeysOf(keys(7));
  });
  beforeEach(async () => {
    env = {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: test.url,
      SVC_ENCRYPTION_KEYS: keys(7),
      SVC_DATA_DIR: folder,
      SVC_PORT: String(await freePort()),
      SVC_PROXY_PORT: String(await freePort()),
    };
  });
  afterAll(async () => {
    await test.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** As the start of a node with these keys does. */
  async function checkKeysOf(SVC_ENCRYPTION_KEYS: string): Promise<void> {
    const app = await createApp(readConfig({ DATABASE_URL: test.url, SVC_ENCRYPTION_KEYS }), test.url, log);
    await checkKeys(app);
    await app.close();
  }
  const look = (more: Record<string, string> = {}): Promise<Finding[]> =>
    findingsOf({ ...env, ...more }, { log });
  const wrong = (findings: readonly Finding[]): Finding[] => findings.filter(({ state }) => state !== 'good');
  const only = async (findings: Promise<Finding[]>): Promise<Finding> => {
    const found = wrong(await findings);
    expect(found).toHaveLength(1);
    expect(found[0]?.remedy).toMatch(/\w{3}/);
    return found[0]!;
  };

  it('finds nothing wrong with a server that is set up right', async () => {
    const findings = await look();
    expect(wrong(findings)).toEqual([]);
    const subjects = [
      'release',
      'configuration',
      'SVC_DATA_DIR',
      'database',
      'clock',
      'role',
      'migrations',
      'master keys',
      'restore',
    ];
    expect(findings.map(({ subject }) => subject)).toEqual(expect.arrayContaining(subjects));
  });

  it('finds each wrong part of a configuration', async () => {
    const found = wrong(await look({ SVC_PORT: 'many', SVC_POTR: '1' }));
    expect(found.map(({ says }) => says)).toEqual([
      'SVC_POTR is not a known variable; did you mean SVC_PORT? (see docs/configuration.md)',
      'SVC_PORT must be an integer from 0 to 65535',
    ]);
  });

  it('finds that there is no database: none listens, none of that name, none of svc, none embedded', async () => {
    const nowhere = new URL(test.url);
    nowhere.searchParams.set('host', '127.0.0.1');
    nowhere.searchParams.set('port', String(await freePort()));
    expect(await only(look({ DATABASE_URL: nowhere.href }))).toMatchObject({
      subject: 'database',
      state: 'fault',
      remedy: 'Start PostgreSQL, or set DATABASE_URL to where it listens.',
    });
    const unnamed = new URL(test.url);
    unnamed.pathname = '/there_is_none';
    expect((await only(look({ DATABASE_URL: unnamed.href }))).remedy).toContain('CREATE DATABASE');
    const empty = await createEmptyDatabase();
    expect(await only(look({ DATABASE_URL: empty.url }))).toMatchObject({
      subject: 'migrations',
      state: 'warning',
    });
    await empty.drop();
    const { DATABASE_URL: _url, SVC_ENCRYPTION_KEYS: _keys, ...own } = env;
    const found = wrong(await findingsOf(own, { log }));
    expect(found).toMatchObject([
      { subject: 'database', says: expect.stringContaining('no embedded database') },
    ]);
  });

  it('finds a role without rights', async () => {
    await test.database.raw('REVOKE ALL ON operation, record FROM CURRENT_USER');
    const found = await only(look());
    await test.database.raw('GRANT ALL ON operation, record TO CURRENT_USER');
    expect(found).toMatchObject({
      subject: 'role',
      state: 'fault',
      says: expect.stringMatching(/may not read and write (operation, record|record, operation)$/),
    });
    expect(found.remedy).toContain('GRANT ALL ON ALL TABLES IN SCHEMA public TO');
  });

  it('finds a PostgreSQL that is too old', () => {
    expect(faultOfVersion(140_011)).toBe('the server is PostgreSQL 14, and svc needs 15 or later');
    expect(faultOfVersion(150_000)).toBeUndefined();
  });

  it('finds wrong master keys: another one of the name, none of them, the variable absent', async () => {
    expect(await only(look({ SVC_ENCRYPTION_KEYS: keys(8) }))).toMatchObject({
      subject: 'master keys',
      state: 'fault',
      says: expect.stringContaining('the master key k1 is not the one'),
    });
    const restored = await only(look({ SVC_ENCRYPTION_KEYS: keys(8, 'k9') }));
    expect(restored.says).toContain('none of the master keys is one that this database was sealed with (k1)');
    expect(await only(look({ SVC_ENCRYPTION_KEYS: '' }))).toMatchObject({
      subject: 'configuration',
      says: expect.stringContaining('SVC_ENCRYPTION_KEYS is required'),
    });
  });

  it('finds a master key of the database that this node lacks', async () => {
    const SVC_ENCRYPTION_KEYS = `${keys(8, 'k2')},${keys(7)}`;
    await checkKeysOf(SVC_ENCRYPTION_KEYS);
    try {
      expect(await only(look())).toMatchObject({
        subject: 'master keys',
        state: 'fault',
        says: expect.stringContaining('sealed under the master key k2, too, which is not configured here'),
      });
      expect(wrong(await look({ SVC_ENCRYPTION_KEYS }))).toEqual([]);
    } finally {
      await test.database.raw(`DELETE FROM master_key WHERE id = 'k2'`);
    }
  });

  it('finds a disk that is full, or read-only', async () => {
    expect(judgeRoom(20_000_000, '/data', false)).toMatchObject({
      state: 'fault',
      says: '20 MB are free in /data',
    });
    expect(judgeRoom(200_000_000, '/data', false).state).toBe('warning');
    expect(judgeRoom(20_000_000, '/data', true).state).toBe('good');
    expect(await only(look({ SVC_DATA_DIR: '/proc/svc' }))).toMatchObject({
      subject: 'SVC_DATA_DIR',
      state: 'warning',
      says: expect.stringContaining('/proc/svc cannot be written'),
    });
    await test.database.raw(`ALTER DATABASE ${nameOf(test)} SET default_transaction_read_only = on`);
    try {
      expect(await only(look())).toMatchObject({ subject: 'database', says: 'it is set to read-only' });
    } finally {
      await test.database.raw(
        `SET default_transaction_read_only = off; ALTER DATABASE ${nameOf(test)} RESET default_transaction_read_only`,
      );
    }
  });

  it('finds a clock that is off', () => {
    expect(judgeClock(30 * 3_600_000)).toMatchObject({
      state: 'fault',
      says: 'this clock is 108000 s ahead of that of the database; a node takes no work',
    });
    expect(judgeClock(-2 * 3_600_000)).toMatchObject({
      state: 'fault',
      says: 'this clock is 7200 s behind that of the database',
    });
    expect(judgeClock(-120_000).state).toBe('warning');
    expect(judgeClock(200).state).toBe('good');
  });

  it('finds a port that is taken', async () => {
    const other = createServer().listen(Number(env['SVC_PROXY_PORT']), '127.0.0.1');
    const found = await only(look());
    other.close();
    expect(found).toMatchObject({
      subject: 'ports',
      says: `port ${env['SVC_PROXY_PORT']} is taken by something else`,
    });
    expect(found.remedy).toContain('SVC_PROXY_PORT');
  });

  it('finds migrations that are missing, changed, or of a newer release', async () => {
    const [last] = await test.database.raw('SELECT * FROM migrations ORDER BY version DESC LIMIT 1');
    const change = (set: string) =>
      test.database.raw(`UPDATE migrations SET ${set} WHERE version = $1`, [last?.['version']]);
    await change(`checksum = 'other'`);
    expect(await only(look())).toMatchObject({
      subject: 'migrations',
      state: 'fault',
      says: expect.stringContaining('was changed'),
    });
    await test.database.raw('UPDATE migrations SET checksum = $1, version = 9000 WHERE version = $2', [
      last?.['checksum'],
      last?.['version'],
    ]);
    expect((await only(look())).says).toMatch(/lacks migration|newer than this release/);
    await test.database.raw('DELETE FROM migrations WHERE version = 9000');
    expect(await only(look())).toMatchObject({
      subject: 'migrations',
      state: 'warning',
      says: expect.stringContaining('missing'),
    });
    await test.database.raw(
      'INSERT INTO migrations SELECT * FROM json_populate_record(NULL::migrations, $1)',
      [JSON.stringify(last)],
    );
    expect(wrong(await look())).toEqual([]);
  });

  it('finds a database that is held after a restore', async () => {
    await test.database
      .raw(`INSERT INTO lineage (system_id, database_oid, timeline, seen_at, held_since, held_because)
      VALUES ('', 1, '00000001', now(), now(), 'it was restored')
      ON CONFLICT (one) DO UPDATE SET held_since = now(), held_because = 'it was restored'`);
    const found = await only(look());
    await test.database.raw('DELETE FROM lineage');
    expect(found).toMatchObject({ subject: 'restore', says: 'no node works: it was restored' });
    expect(found.remedy).toContain('svc restore resume');
  });

  it('finds that no worker does what was accepted', async () => {
    const accept = `INSERT INTO wake (project_id, lane_id, due_at) VALUES (gen_random_uuid(), gen_random_uuid(), svc_now()`;
    await test.database.raw(`${accept} + interval '1 hour')`);
    expect(wrong(await look())).toEqual([]);
    await test.database.raw(`${accept} - interval '5 minutes')`);
    expect(await only(look())).toMatchObject({
      subject: 'workers',
      state: 'warning',
      says: expect.stringMatching(/^what was accepted 30\d s ago/) as string,
    });
    await test.database.raw('DELETE FROM wake');
  });

  it('finds a certificate that ends', () => {
    const now = Date.parse('2026-11-22T00:00:00Z');
    const end = (day: string): Finding => judgeEnd('SVC_PUBLIC_URL', 'svc.example.com', new Date(day), now);
    expect(end('2026-11-21T00:00:00Z')).toMatchObject({
      state: 'fault',
      says: 'the certificate of svc.example.com ended on 2026-11-21',
    });
    expect(end('2026-11-30T00:00:00Z')).toMatchObject({
      state: 'warning',
      says: expect.stringContaining('in 8 days'),
    });
    expect(end('2027-11-30T00:00:00Z').state).toBe('good');
    expect(judgePem('SVC_EXTRA_CA', 'nothing')).toMatchObject([
      { state: 'fault', says: 'holds no certificate' },
    ]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'leaves no embedded server running where %s ends its look',
    async (signal, code) => {
      const SVC_DATA_DIR = join(starts.folder(), signal);
      await mkdir(SVC_DATA_DIR, { mode: 0o755 });
      const made = await startEmbedded({ dataDir: join(SVC_DATA_DIR, 'postgres') });
      await made.stop();
      expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
      const doctor = await starts.start({ SVC_DATA_DIR }, ['server', 'doctor']);
      await expect
        .poll(async () => (await serversOf(SVC_DATA_DIR)).length, { timeout: 60_000, interval: 5 })
        .toBeGreaterThan(0);
      doctor.child.kill(signal);
      expect(await doctor.ended).toBe(code);
      expect(doctor.said()).not.toContain('FAULT');
      expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
    },
    90_000,
  );

  it('has two commands: the server looks at itself, and a builder looks at the server', async () => {
    const doctor = (args: string[], given: Record<string, string>): Promise<{ code: number; out: string }> =>
      new Promise((resolve) =>
        execFile(process.execPath, ['scripts/svc.mjs', ...args], { env: given }, (error, out) =>
          resolve({ code: error ? Number(error.code) : 0, out }),
        ),
      );
    const bad = await doctor(['server', 'doctor'], { ...env, SVC_ENCRYPTION_KEYS: keys(8) });
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/FAULT {4}master keys: .*\n {9}→ .*/);
    const platform = await startPlatform({ databaseUrl: test.url, env: { SVC_ENCRYPTION_KEYS: keys(7) } });
    const builder = {
      PATH: env['PATH'] ?? '',
      HOME: folder,
      SVC_API_URL: platform.base,
      SVC_API_KEY: platform.apiKey,
    };
    try {
      const fine = await doctor(['doctor', '--json'], builder);
      expect((JSON.parse(fine.out) as Finding[]).map(({ subject, state }) => `${subject} ${state}`)).toEqual([
        'server good',
        'ready good',
        'key good',
        'scope good',
      ]);
      for (const scope of ['read', 'develop']) {
        const { body } = await platform.call<{ key: string }>('POST', '/projects/default/api-keys', {
          label: scope,
          scopes: [scope],
        });
        const less = await doctor(['doctor'], { ...builder, SVC_API_KEY: body.key });
        expect(less.code).toBe(0);
        expect(less.out).toMatch(new RegExp(`scope: it may not do everything: it has ${scope}\\.`));
      }
      const stranger = await doctor(['doctor'], { ...builder, SVC_API_KEY: 'x'.repeat(40) });
      expect(stranger.code).toBe(3);
      expect(stranger.out).toContain('FAULT    key:');
      const nobody = await doctor(['doctor'], {
        ...builder,
        SVC_API_URL: `http://127.0.0.1:${await freePort()}`,
      });
      expect(nobody.code).toBe(4);
      expect(nobody.out).toContain('cannot be reached');
      const running = await doctor(['server', 'doctor', '--json'], {
        ...env,
        SVC_PORT: new URL(platform.base).port,
      });
      expect(running).toMatchObject({ code: 0, out: expect.stringContaining('svc answers at') });
    } finally {
      await platform.stop();
    }
  }, 60_000);
});

function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1);
}

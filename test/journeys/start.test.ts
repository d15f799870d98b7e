import { chmod, mkdir, open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from '../database.ts';
import { startForwarder } from '../forwarder.ts';
import { freePort } from '../free-port.ts';
import { findPgbouncer, startPgbouncer } from '../pgbouncer.ts';
import { projectsBy, ready, serversOf, useStarts, type Started } from '../starts.ts';

const pgbouncer = await findPgbouncer();

/** In the process: its clock leaps on by more than a minute. */
const aMinuteOnSignal = `const now = performance.now.bind(performance);
let leapt = 0;
performance.now = () => now() + leapt;
process.on('SIGUSR2', () => { leapt += 65_000; });`;

/** What it said, each line as JSON. */
const linesOf = ({ said }: Started): { level: number; msg: string }[] =>
  said()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; msg: string });

describe('test/journeys/start', () => {
  const { folder, empty, keep, start } = useStarts();

  it.each(['json', 'text'])(
    'serves on, and stops, when its log (%s) can be written nowhere',
    async (format) => {
      const { url: DATABASE_URL } = await empty();
      const full = await open('/dev/full', 'w');
      const apiKey = 'k'.repeat(40);
      const env = { DATABASE_URL, SVC_BOOTSTRAP_API_KEY: apiKey, SVC_LOG_FORMAT: format };
      const node = await start(env, ['server'], [process.execPath, 'scripts/svc.mjs'], full.fd);
      try {
        await ready(node);
        for (let n = 0; n < 40; n += 1) expect(await projectsBy(node, { 'x-api-key': apiKey })).toBe(200);
        const metrics = await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': apiKey } });
        expect(await metrics.text()).toMatch(/^svc_uncaught_errors_total 0$/m);
        node.child.kill('SIGTERM');
        expect(await node.ended).toBe(0);
      } finally {
        await full.close();
      }
    },
    90_000,
  );

  it('shows its metrics to who saw them before, however long the database is away', async () => {
    const database = await empty();
    const wire = await startForwarder(database.url);
    const apiKey = 'k'.repeat(40);
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(aMinuteOnSignal)}`;
    const node = await start({ DATABASE_URL: wire.url, SVC_BOOTSTRAP_API_KEY: apiKey, NODE_OPTIONS });
    const metricsBy = async (key: string): Promise<number> =>
      (await fetch(`${node.base}/metrics`, { headers: { 'x-api-key': key } })).status;
    try {
      await ready(node);
      expect(await metricsBy(apiKey)).toBe(200);
      expect(await metricsBy('x'.repeat(40))).toBe(401);
      wire.cut('refuse');
      await expect
        .poll(() => projectsBy(node, { 'x-api-key': apiKey }), { timeout: 90_000, interval: 1_000 })
        .toBe(503);
      // What is known of keys is good for a minute.
      node.child.kill('SIGUSR2');
      await expect.poll(() => projectsBy(node, { 'x-api-key': apiKey })).toBe(503);
      expect(await metricsBy(apiKey)).toBe(200);
      expect(await metricsBy('x'.repeat(40))).toBe(503);
    } finally {
      await wire.close();
    }
  }, 120_000);

  it('refuses a direct way to another database than the pooler leads to', async () => {
    const [one, other] = [await empty(), await empty()];
    const node = await start({ DATABASE_URL: one.url, SVC_DATABASE_DIRECT_URL: other.url });
    expect(await node.ended).toBe(1);
    expect(node.said()).toContain('SVC_DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
  }, 60_000);

  it('refuses a direct way to another schema than the pooler leads to', async () => {
    const { url, database } = await empty();
    await ready(await start({ DATABASE_URL: url }));
    await database.raw('CREATE SCHEMA beside');
    const direct = new URL(url);
    direct.searchParams.set('options', '-c search_path=beside');
    const node = await start({ DATABASE_URL: url, SVC_DATABASE_DIRECT_URL: direct.href });
    expect(await node.ended).toBe(1);
    expect(node.said()).toContain(
      'SVC_DATABASE_DIRECT_URL leads to another schema than DATABASE_URL (beside and public)',
    );
    expect(await database.raw("SELECT FROM pg_tables WHERE schemaname = 'beside'")).toEqual([]);
  }, 60_000);

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)(
    'a command that %s ended before it was done says so by its exit code',
    async (signal, code) => {
      const DATABASE_URL = `postgres://a:b@127.0.0.1:${await freePort()}/none`;
      const command = await start({ DATABASE_URL }, ['restore', 'hold']);
      await expect.poll(command.said, { timeout: 30_000 }).toContain('waiting for the database');
      command.child.kill(signal);
      expect(await command.ended).toBe(code);
    },
    60_000,
  );

  it('a role that may make no tables is told of a schema of its own, which suffices', async () => {
    const { url: DATABASE_URL, database } = await empty();
    const { pathname, username } = new URL(DATABASE_URL);
    const name = pathname.slice(1);
    await database.raw(`CREATE SCHEMA locked; REVOKE ALL ON SCHEMA locked FROM CURRENT_USER`);
    for (const path of ['locked', 'nowhere']) {
      await database.raw(`ALTER DATABASE ${name} SET search_path = "$user", ${path}`);
      const refused = await start({ DATABASE_URL });
      expect(await refused.ended).toBe(1);
      expect(refused.said()).toMatch(
        new RegExp(
          `the role ${username} may not make tables in the database ${name}.*CREATE SCHEMA ${username} AUTHORIZATION ${username} `,
        ),
      );
    }
    await database.raw(`CREATE SCHEMA ${username} AUTHORIZATION ${username}`);
    await ready(await start({ DATABASE_URL }));
    const schemas = await database.raw(
      "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    expect(schemas).toEqual([{ schemaname: username }]);
  }, 120_000);

  it('waits for a database that is not up yet, and says so', async () => {
    const database = await createTestDatabase();
    keep(database);
    const wire = await startForwarder(database.url);
    wire.cut('refuse');
    const node = await start({ DATABASE_URL: wire.url });
    await expect
      .poll(() => node.said().match(/waiting for the database/g)?.length ?? 0, { timeout: 30_000 })
      .toBeGreaterThan(1);
    expect(node.child.exitCode).toBeNull();
    wire.heal();
    try {
      await ready(node);
      node.child.kill('SIGTERM');
      expect(await node.ended).toBe(0);
      // Whoever gathers the log reads line by line.
      const waiting = { level: 40, msg: expect.stringMatching(/^waiting for the database: ./) as string };
      expect(linesOf(node)[0]).toMatchObject(waiting);
      const isReady = { level: 30, management: expect.stringMatching(/^http.*\/v1$/) as string };
      expect(linesOf(node).find(({ msg }) => msg.startsWith('svc is ready'))).toMatchObject(isReady);
    } finally {
      await wire.close();
    }
  }, 90_000);

  it.each(['CREATE TABLE', 'lineage_read', 'api_key (', 'COMMIT'])(
    'goes on when the database goes away in the middle of its start, at %s',
    async (at) => {
      const wire = await startForwarder((await empty()).url);
      // The last is made there, and the node does not hear of it.
      if (at === 'COMMIT') wire.loseCommit();
      else wire.breakAt(at);
      const node = await start({ DATABASE_URL: wire.url, SVC_BOOTSTRAP_API_KEY: 'k'.repeat(40) });
      try {
        await ready(node);
        expect(node.said()).toMatch(/the database went away during the start: ./);
      } finally {
        await wire.close();
      }
    },
    90_000,
  );

  it.each(['json', 'text'])(
    'waits while the database takes no changes, says what it answered, and goes on (%s)',
    async (SVC_LOG_FORMAT) => {
      const { url: DATABASE_URL, database } = await empty();
      const name = new URL(DATABASE_URL).pathname.slice(1);
      await database.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      const node = await start({ DATABASE_URL, SVC_LOG_FORMAT });
      await expect
        .poll(() => node.said().match(/waiting for the database: .*read-only transaction/g)?.length ?? 0, {
          timeout: 30_000,
        })
        .toBeGreaterThan(1);
      expect(node.child.exitCode).toBeNull();
      await database.raw(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      await ready(node);
    },
    60_000,
  );

  it('says what the database answered when it cannot start', async () => {
    const wrong = new URL((await empty()).url);
    wrong.pathname = '/none';
    const node = await start({ DATABASE_URL: wrong.href });
    expect(await node.ended).toBe(1);
    const failed = {
      level: 60,
      msg: expect.stringMatching(
        /^svc could not start: the database \S+ of DATABASE_URL refuses: database "none" does not exist$/,
      ) as string,
    };
    expect(linesOf(node).at(-1)).toMatchObject(failed);
    const text = await start({ DATABASE_URL: wrong.href, SVC_LOG_FORMAT: 'text' });
    expect(await text.ended).toBe(1);
    expect(text.said()).toMatch(
      /^svc could not start: the database \S+ of DATABASE_URL refuses: database "none" does not exist$/m,
    );
  }, 60_000);

  it.skipIf(!pgbouncer).each([undefined, 'statement_timeout,idle_in_transaction_session_timeout,options'])(
    'refuses to start by a pooler alone that lends sessions by the transaction, also one that ignores %s',
    async (ignored) => {
      const { url } = await empty();
      const pooler = await startPgbouncer(pgbouncer ?? '', url, { ignored });
      try {
        const node = await start({ DATABASE_URL: pooler.through(url) });
        expect(await node.ended).toBe(1);
        expect(node.said()).toContain(
          'leads to a pooler that keeps no sessions: let SVC_DATABASE_DIRECT_URL lead',
        );
        const doctor = await start(
          { DATABASE_URL: pooler.through(url) },
          ['server', 'doctor'],
          [process.execPath, 'scripts/svc.mjs'],
        );
        expect(await doctor.ended).toBe(1);
        expect(doctor.said()).toContain('leads to a pooler that keeps no sessions');
      } finally {
        await pooler.stop();
      }
    },
    60_000,
  );

  it.skipIf(!pgbouncer)(
    'warns, and so does the doctor, where statements by way of the pooler have no time limit',
    async () => {
      const { url, database } = await empty();
      const name = new URL(url).pathname.slice(1);
      for (const limit of ['0', '30s']) {
        await database.raw(`ALTER DATABASE ${name} SET statement_timeout = '${limit}'`);
        const pooler = await startPgbouncer(pgbouncer ?? '', url);
        onTestFinished(() => pooler.stop());
        const given = { DATABASE_URL: pooler.through(url), SVC_DATABASE_DIRECT_URL: url };
        const node = await start(given);
        await ready(node);
        const doctor = await start(given, ['server', 'doctor']);
        await doctor.ended;
        for (const { said } of [node, doctor])
          expect(/pooler have no time limit.*ALTER ROLE/s.test(said())).toBe(limit === '0');
        node.child.kill('SIGTERM');
        await node.ended;
      }
    },
    120_000,
  );

  it.skipIf(!pgbouncer)(
    'waits for a pooler that refuses it, and says what the pooler answered',
    async () => {
      const { url } = await empty();
      const pooler = await startPgbouncer(pgbouncer ?? '', url);
      try {
        const stranger = new URL(pooler.through(url));
        stranger.username = 'stranger';
        const node = await start({ DATABASE_URL: stranger.href, SVC_DATABASE_DIRECT_URL: url });
        await expect
          .poll(node.said, { timeout: 30_000 })
          .toMatch(/waiting for the pooler of DATABASE_URL: .*(authentication failed|no such user)/);
        expect(node.child.exitCode).toBeNull();
      } finally {
        await pooler.stop();
      }
    },
    60_000,
  );

  it.skipIf(!pgbouncer)(
    'waits for a pooler that has no session to lend, says where, and the doctor finds it',
    async () => {
      const { url } = await empty();
      const pooler = await startPgbouncer(pgbouncer ?? '', url);
      const through = pooler.through(url);
      const { host, password } = new URL(through);
      const giveBack = await pooler.takeAll(url);
      try {
        const given = { DATABASE_URL: through, SVC_DATABASE_DIRECT_URL: url };
        const node = await start(given);
        const doctors = [
          await start(given, ['server', 'doctor']),
          await start({ DATABASE_URL: through }, ['server', 'doctor']),
        ];
        for (const { ended, said } of doctors) {
          expect(await ended).toBe(1);
          expect(said()).toContain(`${host} answers nothing (Query read timeout)`);
          expect(said()).toMatch(/whether it has a session to lend/i);
          expect(said()).not.toContain(password);
        }
        await expect
          .poll(node.said, { timeout: 30_000 })
          .toContain(`waiting for the pooler of DATABASE_URL: ${host} answers nothing (Query read timeout)`);
        expect(node.said()).not.toContain(password);
        await giveBack();
        await ready(node);
      } finally {
        await pooler.stop();
      }
    },
    120_000,
  );

  it.skipIf(!pgbouncer)(
    'a command for which a pooler has one session, and needs two, says where it waits, and ends with 4',
    async () => {
      const database = await createTestDatabase();
      keep(database);
      const ignored = 'options,statement_timeout,idle_in_transaction_session_timeout';
      const pooler = await startPgbouncer(pgbouncer ?? '', database.url, { mode: 'session', ignored });
      const through = pooler.through(database.url);
      const giveBack = await pooler.takeAll(database.url, 1);
      try {
        const command = await start({ DATABASE_URL: through }, ['restore', 'hold']);
        expect(await command.ended).toBe(4);
        const silent = `${new URL(through).host} answers nothing (Query read timeout)`;
        expect(command.said()).toContain(`the database went away during the start: ${silent}`);
        expect(command.said()).toMatch(/^The database \S+ of DATABASE_URL gave no answer: /m);
      } finally {
        await giveBack();
        await pooler.stop();
      }
    },
    120_000,
  );

  it('a start that fails takes the embedded server with it', async () => {
    const SVC_DATA_DIR = join(folder(), 'embedded');
    await mkdir(SVC_DATA_DIR, { mode: 0o755 });
    // As root the server runs as another user, who must get there.
    await chmod(folder(), 0o755);
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    try {
      const node = await start({ SVC_DATA_DIR, SVC_PORT: String(port) });
      expect(await node.ended).toBe(1);
      expect(node.said()).toContain(`port ${port} is taken; set SVC_PORT to another one`);
      expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
    } finally {
      taken.close();
    }
  }, 120_000);

  it.each([
    ['its database is made', /\/initdb\0/],
    ['its database starts', /\/postgres\0-D\0/],
  ])(
    'SIGTERM while %s leaves no embedded server running',
    async (moment, line) => {
      const SVC_DATA_DIR = join(folder(), `told while ${moment}`);
      await mkdir(SVC_DATA_DIR, { mode: 0o755 });
      await chmod(folder(), 0o755);
      const node = await start({ SVC_DATA_DIR });
      await expect
        .poll(async () => (await serversOf(SVC_DATA_DIR)).some((each) => line.test(each)), {
          timeout: 60_000,
          interval: 5,
        })
        .toBe(true);
      node.child.kill('SIGTERM');
      expect(await node.ended).toBe(0);
      expect(await serversOf(SVC_DATA_DIR)).toEqual([]);
    },
    120_000,
  );

  it('SIGTERM to npm start stops the platform', async () => {
    const { url: DATABASE_URL } = await empty();
    const node = await start({ DATABASE_URL }, [], ['npm', 'start']);
    await ready(node);
    node.child.kill('SIGTERM');
    await expect
      .poll(
        () =>
          fetch(`${node.base}/healthz`).then(
            () => 'answers',
            () => 'gone',
          ),
        { timeout: 20_000 },
      )
      .toBe('gone');
  }, 90_000);
});

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { createHarness, manifest, type Harness } from '../../installations/harness.fixture.ts';
import type { Database } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import type { Ground } from '../../kit/ground.ts';
import { createOperations, type Operations } from '../../operations/index.ts';
import { followChanges, followOne } from './feeds.ts';
import { portableReads } from './portable-store.ts';
import { createScheduler } from './scheduler.ts';
import { keepOnly, list, pause, upsert, type FeedPlace } from './store/feeds.ts';
import { beginning, listReads } from './store/states.ts';

const contacts = { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } };
const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };

describe('actions/read/feeds', () => {
  let on: Harness;
  let operations: Operations;
  let groups = 0;
  let place: string;
  let at: FeedPlace;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 5 }));
    operations = createOperations(on.ground);
  });
  async function install(): Promise<void> {
    const groupRef = `group-${(groups += 1)}`;
    await on.connect(groupRef);
    const config = { content: { provider: 'hubspot', read: { objects: { contacts } } } };
    const made = await on.call('POST', '/integrations/crm/installations', { groupRef, config });
    expect([made.status, made.json.code]).toEqual([201, undefined]);
    at = { projectId: on.projectId, installationId: made.json.id };
    place = `/integrations/crm/installations/${at.installationId}`;
  }
  beforeEach(install);
  afterAll(async () => {
    await operations.close(1_000);
    await on?.close();
  });

  const follow = (ground = on.ground): Promise<boolean> => followChanges({ ground, operations });
  const followAll = async (): Promise<void> => {
    while (await follow());
  };
  const feeds = async (): Promise<string[]> =>
    (await list(on.ground.database, at.projectId, at.installationId)).map(({ object }) => object);
  const addCompanies = async (more = {}): Promise<void> => {
    const installation = {
      config: { content: { read: { objects: { companies: { ...companies, ...more } } } } },
    };
    const updateMask = ['config.content.read.objects.companies'];
    const saved = await on.call('PATCH', `${place}?skipSampling=true`, { updateMask, installation });
    expect([saved.status, saved.json.code]).toEqual([200, undefined]);
  };

  const ofInstallation = () => `project_id = '${at.projectId}' AND installation_id = '${at.installationId}'`;
  /** The installation gets another connection. */
  async function moveOver(name: string): Promise<string> {
    const connectionId = await on.connect(`group-${groups}`, name);
    const moved = await on.call('PATCH', `${place}?skipSampling=true`, {
      updateMask: ['connectionId'],
      installation: { connectionId },
    });
    expect([moved.status, moved.json.code]).toEqual([200, undefined]);
    return connectionId;
  }
  /** Makes the feeds as a node of the release before migration 70 does, which takes the note. Answers which of them it finds new. */
  const followByFormer = (): Promise<Record<string, unknown>[]> =>
    on.ground.database.raw(`
      WITH noted AS (DELETE FROM read_stale WHERE ${ofInstallation()})
      INSERT INTO read_feed AS f (project_id, installation_id, object, kind, targets, object_name, next_at, started_at, watermark)
        VALUES ('${at.projectId}', '${at.installationId}', 'contacts', 'records', '', 'contacts', 'infinity', now(), now())
      ON CONFLICT (project_id, installation_id, object, kind) DO UPDATE SET
        targets = excluded.targets, object_name = excluded.object_name, next_at = f.next_at
      RETURNING xmax = 0 AS "isNew"`);
  const standing = () =>
    on.ground.database.raw(
      `SELECT connection_id AS of, watermark = started_at AND watermark > '2000-01-02' AS anew, run_id AS run, backfill_id AS history, paused, note
      FROM read_feed WHERE ${ofInstallation()}`,
    );

  /** A node that waits once it has read what the config says, until it is told to go on. */
  function slowNode(): { ground: Ground; read: Promise<void>; goOn: () => void } {
    const { database } = on.ground;
    const read = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction: Database['transaction'] = (work) =>
      database.transaction((tx) =>
        work({
          ...tx,
          rows: async <Row>(asked: Statement, values?: readonly unknown[]) => {
            const rows = await tx.rows<Row>(asked, values);
            if (asked.name !== 'installations_load_targets') return rows;
            read.resolve();
            await gate.promise;
            return rows;
          },
        }),
      );
    const ground = { ...on.ground, database: { ...database, transaction } };
    return { ground, read: read.promise, goOn: gate.resolve };
  }

  it.each([
    ['the scheduler of another node', () => follow()],
    ['a request', () => on.ground.database.transaction((tx) => followOne(tx, at))],
  ])('follows a change that comes while a node is at the one before, by %s', async (_by, other) => {
    const { ground, read, goOn } = slowNode();
    const first = follow(ground);
    await read;
    await addCompanies();
    const second = other();
    await sleep(300);
    goOn();
    await Promise.all([first, second]);
    await followAll();
    expect(await feeds()).toEqual(['companies', 'contacts']);
  });

  it('leaves to another node what that is at, and takes what is behind it', async () => {
    const { ground, read, goOn } = slowNode();
    const first = follow(ground);
    await read;
    await addCompanies();
    expect(await follow()).toBe(false);
    await install();
    expect(await follow()).toBe(true);
    expect(await feeds()).toEqual(['contacts']);
    goOn();
    await first;
  });

  it('follows the others where one cannot be followed, and that one behind them as soon as it can', async () => {
    const { database } = on.ground;
    await followAll();
    const first = at;
    await database.raw(`
      CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON read_feed FOR EACH ROW
        WHEN (NEW.installation_id = '${first.installationId}') EXECUTE FUNCTION refused()`);
    await addCompanies();
    await install();
    expect(await follow()).toBe(true);
    expect(await feeds()).toEqual(['contacts']);
    expect(await follow()).toBe(false);
    await database.raw('DROP TRIGGER refused ON read_feed');
    await followAll();
    at = first;
    expect(await feeds()).toEqual(['companies', 'contacts']);
  });

  it('begins what is due though no change can be followed', async () => {
    const { database } = on.ground;
    await followAll();
    await database.raw(`
      CREATE FUNCTION unheard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'unheard'; END $$;
      CREATE TRIGGER unheard BEFORE DELETE ON read_stale EXECUTE FUNCTION unheard();
      UPDATE read_feed SET schedule = '0 0 1 1 *', next_at = svc_now() WHERE installation_id = '${at.installationId}'`);
    await addCompanies();
    const scheduler = createScheduler({ ground: on.ground, operations });
    scheduler.start();
    const begun = async () => (await list(database, at.projectId, at.installationId))[0]?.lastRunId;
    for (let n = 0; n < 50 && !(await begun()); n += 1) await sleep(100);
    await scheduler.stop();
    await database.raw('DROP TRIGGER unheard ON read_stale');
    expect(await begun()).toBeTypeOf('string');
  });

  it('begins anew with another connection: nothing that was kept of the account before counts', async () => {
    const { database } = on.ground;
    await addCompanies();
    await followAll();
    const key = `'${at.projectId}', '${at.installationId}', 'companies'`;
    await database.raw(`
      INSERT INTO read_feed (project_id, installation_id, object, kind, object_name, started_at, watermark, next_at, connection_id)
        SELECT project_id, installation_id, object, 'associations', object_name, started_at, watermark, 'infinity', connection_id
        FROM read_feed WHERE ${ofInstallation()} AND object = 'companies';
      UPDATE read_feed SET watermark = '2000-01-01', failures = 9, last_run_id = installation_id, backfill_id = installation_id,
        paused = CASE object WHEN 'companies' THEN 'failures' ELSE 'object' END, paused_at = now() WHERE ${ofInstallation()};
      INSERT INTO read_seen VALUES (${key}, '${at.installationId}', 1, 'seen');
      INSERT INTO read_link VALUES (${key}, '1', 'digests', now())`);
    const before = await database.raw(
      `SELECT next_at FROM read_feed WHERE ${ofInstallation()} AND kind = 'records' ORDER BY object`,
    );
    const connectionId = await moveOver('another');
    await followAll();
    const rows = await database.raw(
      `SELECT object, connection_id AS of, watermark = started_at AND watermark > '2000-01-02' AS anew, failures, paused,
        paused_at IS NOT NULL AS "isPaused", last_run_id AS run, backfill_id AS history, schedule
      FROM read_feed WHERE ${ofInstallation()} ORDER BY object, kind`,
    );
    const anew = { of: connectionId, anew: true, failures: 0, run: null, history: null };
    expect(rows).toEqual([
      { ...anew, object: 'companies', paused: null, isPaused: false, schedule: '0 * * * *' },
      { ...anew, object: 'contacts', paused: 'object', isPaused: true, schedule: null },
    ]);
    expect(
      await database.raw(
        `SELECT next_at FROM read_feed WHERE ${ofInstallation()} AND kind = 'records' ORDER BY object`,
      ),
    ).toEqual(before);
    for (const table of ['read_seen', 'read_link'])
      expect(await database.raw(`SELECT FROM ${table} WHERE ${ofInstallation()}`)).toEqual([]);
  });

  it('begins the history with its object, where a deploy took that away before the connection became another', async () => {
    const history = { defaultPeriod: { fullHistory: true } };
    const companiesOf = async () => {
      await followAll();
      const rows = await list(on.ground.database, at.projectId, at.installationId);
      return rows.find(({ object }) => object === 'companies');
    };
    const deploy = async (sourceYaml: string) => {
      const deployed = await on.call('PUT', '/integrations:batch?destructive=true', { sourceYaml });
      expect(deployed.status).toBe(200);
    };
    const without = manifest.replace('- objectName: companies', '- objectName: deals');
    await addCompanies({ backfill: history });
    const { backfillId: former } = (await companiesOf()) ?? {};
    await deploy(without);
    expect(await companiesOf()).toMatchObject({ paused: 'removed', backfillId: former });
    await moveOver('while it was taken away');
    expect(await companiesOf()).toMatchObject({ paused: 'removed', backfillId: null });
    await deploy(manifest);
    const { backfillId: begun } = (await companiesOf()) ?? {};
    expect(begun).toEqual(expect.any(String));
    expect(await on.ground.database.raw(`SELECT type, since FROM read_run WHERE id = '${begun}'`)).toEqual([
      { type: 'backfill', since: null },
    ]);
    await deploy(without);
    await companiesOf();
    await deploy(manifest);
    expect(await companiesOf()).toMatchObject({ paused: null, backfillId: begun });
    await deploy(without);
    await companiesOf();
    const paused = await pause(on.ground.database, at, ['contacts'], { as: 'installation', note: undefined });
    expect(paused).toEqual(['contacts']);
    await deploy(manifest);
    expect(await companiesOf()).toMatchObject({ paused: 'installation', backfillId: begun });
  });

  it('begins anew also by a node of the release before, which knows of no connection of a feed', async () => {
    const { database } = on.ground;
    await followAll();
    await database.raw(`
      UPDATE read_feed SET watermark = '2000-01-01', run_id = installation_id, backfill_id = installation_id, paused = 'object',
        paused_at = now(), note = 'for now' WHERE ${ofInstallation()};
      INSERT INTO read_seen VALUES ('${at.projectId}', '${at.installationId}', 'contacts', '${at.installationId}', 1, 'seen')`);
    expect(await followByFormer()).toEqual([{ isNew: false }]);
    expect(await standing()).toMatchObject([{ anew: false, run: at.installationId, paused: 'object' }]);
    const connectionId = await moveOver('behind a former node');
    expect(await followByFormer()).toEqual([{ isNew: true }]);
    const anew = {
      of: connectionId,
      anew: true,
      run: null,
      history: null,
      paused: 'object',
      note: 'for now',
    };
    expect(await standing()).toEqual([anew]);
    expect(await database.raw(`SELECT FROM read_seen WHERE ${ofInstallation()}`)).toEqual([]);
    await followAll();
    expect(await standing()).toEqual([anew]);
  });

  it('begins anew also where a node of the release before made the feed', async () => {
    expect(await followByFormer()).toEqual([{ isNew: true }]);
    await on.ground.database.raw(
      `UPDATE read_feed SET watermark = '2000-01-01', run_id = installation_id WHERE ${ofInstallation()}`,
    );
    const connectionId = await moveOver('after a former node');
    await followAll();
    expect(await standing()).toMatchObject([{ of: connectionId, anew: true, run: null }]);
  });

  it('begins anew also what a node of the release before left with a connection, or with none, before the triggers were there', async () => {
    const { database } = on.ground;
    const migration = await readFile('migrations/0072-connection-of-every-read.sql', 'utf8');
    await followAll();
    const former = String((await standing())[0]?.['of']);
    await database.raw(`UPDATE read_feed SET connection_id = NULL WHERE ${ofInstallation()}`);
    await database.raw(migration);
    expect(await standing()).toMatchObject([{ of: former, anew: true }]);
    const connectionId = await moveOver('left by a former node');
    await database.raw(`DELETE FROM read_stale WHERE ${ofInstallation()}`);
    await followAll();
    expect(await standing()).toMatchObject([{ of: former }]);
    await database.raw(migration);
    await followAll();
    expect(await standing()).toMatchObject([{ of: connectionId }]);
  });

  it('goes along with its project where it is of the connection that goes along', async () => {
    const { database, vault } = on.ground;
    const [reads] = portableReads;
    const leaving = async () =>
      (await reads!.read(database, { projectId: at.projectId, limit: 1_000 }, vault)).filter(({ row }) =>
        row.includes(at.installationId),
      );
    await followAll();
    const rows = await leaving();
    expect(rows).toHaveLength(1);
    const before = await standing();
    await database.raw(`DELETE FROM read_feed WHERE ${ofInstallation()}`);
    await database.transaction((tx) => reads!.write(tx, at.projectId, rows, vault));
    expect(await standing()).toEqual(before);
    await moveOver('not gone along with');
    expect(await leaving()).toEqual([]);
    await database.transaction((tx) => reads!.write(tx, at.projectId, rows, vault));
    expect(await standing()).toEqual(before);
    await followAll();
    expect(await leaving()).toHaveLength(1);
  });

  it('tells names apart as the config does, of which PostgreSQL takes some for one', async () => {
    const { database } = on.ground;
    const wanted = ['İ', 'i'].map((objectName) => ({
      objectName,
      kind: 'records' as const,
      targets: '',
      schedule: undefined,
      nextRun: undefined,
      removed: false,
    }));
    const made = await database.transaction(async (tx) => {
      await keepOnly(tx, at, wanted);
      return upsert(tx, { ...at, connectionId: at.installationId }, wanted);
    });
    expect(made.map(({ isNew }) => isNew)).toEqual([true, true]);
    const { rows } = await listReads(database, at.projectId, {
      filter: { installationId: at.installationId, object: 'İ' },
      after: beginning,
      looks: null,
      limit: null,
    });
    expect(rows.map(({ records }) => records.objectName)).toEqual(['İ']);
  });

  it('follows what a deploy brings that was about to commit when the installation was made', async () => {
    const { database } = on.ground;
    await database.raw(`
      CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
      CREATE TRIGGER held BEFORE INSERT ON audit_log FOR EACH ROW WHEN (NEW.action = 'deploy.done') EXECUTE FUNCTION held()`);
    const waiting = () =>
      database.raw(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
    const always = ['enabled: always', 'requiredFields: [{ fieldName: name }]', 'schedule:'];
    const sourceYaml = manifest.replace('schedule:', always.join('\n          '));
    const acting: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      await tx.rows(statement('test_hold_deploy', 'SELECT pg_advisory_xact_lock(1)'));
      acting.push(on.call('PUT', '/integrations:batch', { sourceYaml }));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      acting.push(install());
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
      await followAll();
    });
    expect(await Promise.all(acting)).toMatchObject([{ status: 200 }, undefined]);
    await database.raw('DROP TRIGGER held ON audit_log');
    await followAll();
    expect(await feeds()).toEqual(['companies', 'contacts']);
  });
});

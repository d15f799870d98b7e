import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { createHarness, manifest, type Harness } from '../installations/harness.fixture.ts';
import { statement } from '../kit/db/statement.ts';
import { transferOn } from './harness.fixture.ts';
import type { Transfer } from './transfer.ts';

const passphrase = 'correct horse battery staple';
const holdImport = statement('test_hold_import', 'SELECT pg_advisory_xact_lock(1)');
const lockAudit = statement('test_lock_audit', 'LOCK TABLE audit_log IN SHARE MODE');

describe('transfer/under-way', () => {
  let on: Harness;
  let transfer: Transfer;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 1 }));
    transfer = transferOn(on.ground.database, on.ground);
    await on.connect('acme');
    const config = { content: { provider: 'hubspot' } };
    await on.call('POST', '/integrations/other/installations', { groupRef: 'acme', config });
  });
  afterAll(() => on?.close());

  const exported = async () =>
    (await transfer.export({ id: on.projectId, name: 'default' }, { passphrase })).file;
  const waiting = () =>
    on.ground.database.raw(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );

  it('brings installations before a deploy of their integration, which then notes them, too', async () => {
    const { database } = on.ground;
    const file = await exported();
    await database.raw(`
      CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
      CREATE TRIGGER held BEFORE INSERT ON audit_log FOR EACH ROW
        WHEN (NEW.action = 'project.imported') EXECUTE FUNCTION held();
      WITH c AS (DELETE FROM config) DELETE FROM installation;
      DELETE FROM read_stale`);
    const sourceYaml = manifest.replace('name: other', 'name: other\n    displayName: Other');
    const acting: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      await tx.rows(holdImport);
      acting.push(transfer.import(on.projectId, { passphrase, file }));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      acting.push(on.call('PUT', '/integrations:batch', { sourceYaml }));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
    });
    expect(await Promise.all(acting)).toMatchObject([{ created: { installations: 1 } }, { status: 200 }]);
    expect(await database.raw('SELECT installation_id FROM read_stale')).toHaveLength(2);
    await database.raw('DROP TRIGGER held ON audit_log');
  });

  it('deletes with an installation the configs that are being imported', async () => {
    const { database } = on.ground;
    const [installation] = await database.raw('SELECT id FROM installation');
    const path = `/integrations/other/installations/${String(installation?.['id'])}`;
    const write = { objects: { contacts: { objectName: 'contacts' } } };
    const changed = await on.call('PATCH', path, {
      updateMask: ['config.content.write.objects.contacts'],
      installation: { config: { content: { write } } },
    });
    expect(changed.status).toBe(200);
    const file = await exported();
    await database.raw('DELETE FROM config WHERE id NOT IN (SELECT config_id FROM installation)');
    const acting: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      // The last that either writes.
      await tx.rows(lockAudit);
      acting.push(transfer.import(on.projectId, { passphrase, file }));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      acting.push(on.call('DELETE', path));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
    });
    expect(await Promise.all(acting)).toMatchObject([{ created: { configs: 1 } }, { status: 204 }]);
    expect(await database.raw('SELECT id FROM config')).toEqual([]);
  });
});

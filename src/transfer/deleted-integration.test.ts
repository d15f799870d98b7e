import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from '../installations/harness.fixture.ts';
import { statement } from '../kit/db/statement.ts';
import { transferOn } from './harness.fixture.ts';

const passphrase = 'correct horse battery staple';
const lockAudit = statement('test_lock_audit', 'LOCK TABLE audit_log IN SHARE MODE');

describe('transfer/deleted-integration', () => {
  let on: Harness;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 1 }));
    await on.connect('acme');
  });
  afterAll(() => on?.close());

  it('deletes with an integration what of it is being imported', async () => {
    const { database } = on.ground;
    const left = () =>
      database.raw('SELECT installation_id AS id FROM config UNION ALL SELECT id FROM installation');
    const config = { content: { provider: 'hubspot' } };
    const path = '/integrations/other';
    await on.call('POST', `${path}/installations?skipSampling=true`, { groupRef: 'acme', config });
    expect(await left()).toHaveLength(2);
    const transfer = transferOn(database, on.ground);
    const { file } = await transfer.export({ id: on.projectId, name: 'default' }, { passphrase });
    await database.raw('WITH c AS (DELETE FROM config) DELETE FROM installation');
    const waiting = () =>
      database.raw(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
    const acting: Promise<unknown>[] = [];
    await database.transaction(async (tx) => {
      // The last that either writes.
      await tx.rows(lockAudit);
      acting.push(transfer.import(on.projectId, { passphrase, file, dryRun: false }));
      await expect.poll(waiting).toHaveLength(1);
      acting.push(on.call('DELETE', path));
      await expect.poll(waiting).toHaveLength(2);
    });
    expect(await Promise.all(acting)).toMatchObject([{ created: { installations: 1 } }, { status: 204 }]);
    expect(await left()).toEqual([]);
  });
});

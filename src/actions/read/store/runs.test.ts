import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from '../../../installations/harness.fixture.ts';
import { newId } from '../../../kit/ids.ts';
import { beginRun, due, fire, type RunType } from './runs.ts';

describe('actions/read/store/runs', () => {
  let on: Harness;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 1 }));
  });
  afterAll(() => on?.close());

  it('reads wait behind what somebody waits for, and behind writes; what goes through all records comes last', async () => {
    const { database } = on.ground;
    const { projectId } = on;
    await on.connect('acme');
    const contacts = { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } };
    const content = { provider: 'hubspot', read: { objects: { contacts } } };
    const body = { groupRef: 'acme', config: { content } };
    const made = await on.call('POST', '/integrations/crm/installations', body);
    const installationId: string = made.json.id;
    for (const type of ['triggered', 'backfill'] as RunType[])
      await beginRun(database, { projectId, installationId, objectName: 'contacts', id: newId(), type });
    await database.raw(
      `INSERT INTO read_feed (project_id, installation_id, object, kind, object_name, schedule, next_at, started_at, watermark)
      SELECT $1, $2, 'contacts', kind, 'contacts', '* * * * *', svc_now(), svc_now(), svc_now()
      FROM unnest(ARRAY['records', 'associations']) AS kind`,
      [projectId, installationId],
    );
    const feeds = await due(database, 10);
    await fire(
      database,
      feeds.map((feed) => ({ feed, id: newId(), tickAt: feed.now, nextAt: undefined })),
    );
    const found = await database.raw(
      'SELECT r.type, w.prio FROM read_run r JOIN work w ON w.project_id = r.project_id AND w.ref = r.id',
    );
    expect(Object.fromEntries(found.map(({ type, prio }) => [type, prio]))).toEqual({
      triggered: 2,
      scheduled: 2,
      backfill: 3,
      associations: 3,
    });
  });
});

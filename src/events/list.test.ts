import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { mostWalked } from '../../test/walked.ts';
import { lastId } from '../kit/paging.ts';
import './store.ts';

const projectId = '0192f0c1-0000-7000-8000-000000000000';

describe('events/list', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw(
      `INSERT INTO event (project_id, id, type, data)
       SELECT '${projectId}', (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'write.async.done', '{}'
       FROM generate_series(1, 100000) n`,
    );
    // As autovacuum does it: the partitions that nothing was written to have no statistics.
    const [written] = await test.database.raw('SELECT tableoid::regclass::text AS name FROM event LIMIT 1');
    await test.database.raw(`ANALYZE ${String(written?.['name'])}`);
  });
  afterAll(() => test?.drop());

  it.each(['force_generic_plan', 'force_custom_plan'])(
    'reads the events of a page, however many there are (%s)',
    async (mode) => {
      await test.database.raw(`SET plan_cache_mode = ${mode}`);
      const values = [projectId, lastId, null, null, null, 100];
      expect(await mostWalked(test.database, 'events_list', values)).toBe(100);
    },
  );
});

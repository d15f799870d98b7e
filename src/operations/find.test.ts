import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { mostWalked } from '../../test/walked.ts';
import { wholeProject } from '../events/index.ts';
import { findOperations } from './find-store.ts';
import { projectId } from './harness.fixture.ts';

const many = 20_000;

describe('operations/find', () => {
  let test: TestDatabase;
  let moment: string;
  const idOf = (n: string): string => `('${moment}7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
  beforeAll(async () => {
    test = await createTestDatabase();
    const [row] = await test.database.raw('SELECT left(svc_uuid_floor(now())::text, 14) AS moment');
    moment = String(row?.['moment']);
    await test.database.raw(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
       SELECT '${projectId}', ${idOf('n')}, '${projectId}', '${projectId}', '${projectId}', 'write', '{"type":"update"}', 'contacts', 'success', 1
       FROM generate_series(1, ${many}) n`,
    );
    await test.database.raw('ANALYZE operation');
  });
  afterAll(() => test?.drop());

  const find = async (text: string): Promise<string[]> => {
    const sought = { range: null, text, isFull: true };
    const found = await findOperations(test.database, wholeProject(projectId), sought);
    return found.map(({ id }) => Number.parseInt(id.slice(24), 16)).map(String);
  };
  const wrote = (recordId: string, where: string): Promise<unknown> =>
    test.database.raw(
      `INSERT INTO written_record (project_id, hash, operation_id)
       SELECT '${projectId}', svc_record_hash('${recordId}'), ${idOf('n')} FROM generate_series(1, ${many}) n WHERE ${where}`,
    );
  const byRecord = (recordId: string): Promise<number> =>
    mostWalked(test.database, 'operations_find_by_record', [projectId, null, recordId, [recordId]]);

  it.each(['force_generic_plan', 'force_custom_plan'])(
    'looks at the newest that wrote a record, however many operations there are and whatever is known of them (%s)',
    async (mode) => {
      await test.database.raw(`SET plan_cache_mode = ${mode}`);
      await test.database.raw('TRUNCATE written_record');
      expect(await byRecord('none')).toBeLessThanOrEqual(100);
      await wrote('a', 'n IN (7, 9)');
      await wrote('hot', 'n % 2 = 0');
      for (const _twice of ['as it was', 'analyzed']) {
        for (const recordId of ['none', 'a', 'hot'])
          expect(await byRecord(recordId)).toBeLessThanOrEqual(100);
        await test.database.raw('ANALYZE written_record');
      }
      expect(await find('a')).toEqual(['9', '7']);
      expect(await find('none')).toEqual([]);
      expect(await find('hot')).toEqual([0, 2, 4, 6, 8].map((less) => String(many - less)));
    },
  );
});

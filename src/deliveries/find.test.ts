import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confine } from '../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import { newId } from '../kit/ids.ts';
import { findDeliveries } from './index.ts';
import { openDeliveryWorld, type DeliveryWorld } from './harness.fixture.ts';

describe('deliveries/find', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let destinationId: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    world = openDeliveryWorld(test);
    const hook = { name: 'hook', type: 'webhook' as const, metadata: { url: 'http://127.0.0.1:9/hook' } };
    destinationId = (await world.deliveries.destinations.create(world.projectId, hook)).id;
  });
  afterAll(async () => {
    await world.close();
    await test.drop();
  });

  const find = async (text: string, reach: { groupRef?: string; projectId?: string } = {}) => {
    const found = await findDeliveries(test.database, confine({ projectId: world.projectId, ...reach }), {
      range: null,
      text,
      isFull: true,
    });
    return found.map(({ id }) => id);
  };
  const carrying = (...ids: string[]) =>
    world.queue(destinationId, 1, { keys: JSON.stringify(ids.map((id) => [id, '1', 0])) });

  it('finds the deliveries that carry a record, the newest first and five at the most', async () => {
    const [first = ''] = await carrying('a-1', 'a-2');
    const [second = ''] = await carrying('a-2', 'a-3');
    expect(await find('a-1')).toEqual([first]);
    expect(await find('a-2')).toEqual([second, first]);
    expect(await find('a-')).toEqual([]);
    expect(await find('a-2', { groupRef: 'acme' })).toEqual([second, first]);
    expect(await find('a-2', { groupRef: 'globex' })).toEqual([]);
    expect(await find('a-2', { projectId: newId() })).toEqual([]);
    const more = [];
    for (let count = 0; count < 5; count += 1) more.push(...(await carrying('a-2')));
    expect(await find('a-2')).toEqual(more.toReversed());
  });

  it.each(['force_generic_plan', 'force_custom_plan'])(
    'looks at the messages that carry the record, however many there are (%s)',
    async (mode) => {
      const projectId = newId();
      await test.database.raw(
        `INSERT INTO message (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
         SELECT '${projectId}', (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '${projectId}', 'g', 'contacts', '${projectId}', 0, 0, 1, 2, 0, '{}',
           json_build_array(json_build_array(n::text, '1', 0))
         FROM generate_series(1, 20000) n`,
      );
      await test.database.raw('ANALYZE message');
      const text = declaredStatements().find(({ name }) => name === 'deliveries_find_by_record')?.text ?? '';
      await test.database.raw(`SET plan_cache_mode = ${mode}`);
      const plan = await test.database.raw(
        `EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY OFF) ${text}`,
        [projectId, '777', ['777'], null],
      );
      const lines = plan.map((row) => String(row['QUERY PLAN']));
      expect(lines.join('\n')).toMatch(/Bitmap Heap Scan on message_\d+ message_\d+ \(actual rows=1\.00/);
      expect(lines.filter((line) => /actual rows=\d{3}|Removed by Filter: \d{3}/.test(line))).toEqual([]);
    },
  );

  it('leaves out the days that were written before the index', async () => {
    const migration = await readFile('migrations/0048-record-of-message.sql', 'utf8');
    await test.database.raw('DROP INDEX message_record');
    await test.database.raw(migration.slice(migration.indexOf('CREATE INDEX')));
    const [today = ''] = await carrying('c-1');
    expect(await find('c-1')).toEqual([]);
    const [moved] = await test.database.raw(
      `UPDATE message SET id = svc_uuid_floor(now() + interval '1 day') WHERE id = $1 RETURNING id`,
      [today],
    );
    expect(await find('c-1')).toEqual([moved?.['id']]);
  });
});

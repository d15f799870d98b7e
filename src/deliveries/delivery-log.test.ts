import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import { newId } from '../kit/ids.ts';
import './index.ts';

describe('deliveries/delivery-log', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const anId = newId();
  it.each([
    ['deliveries_of_project', / message_\d+_pkey/, {}],
    ['deliveries_of_group', / message_\d+_group_ref_id_idx/, { 5: 'acme' }],
    ['deliveries_of_destination', / message_\d+_destination_id_id_idx/, { 7: anId }],
    ['deliveries_of_installation', / message_\d+_installation_id_id_idx/, { 8: anId }],
    ['deliveries_of_operation', / message_\d+_operation_id_id_idx/, { 9: anId }],
    ['deliveries_of_object', / message_\d+_object_id_idx/, { 6: 'people' }],
    ['deliveries_of_raw_object', / message_\d+_raw_object_id_idx/, { 6: 'contacts' }],
    ['deliveries_ended', / delivery_\d+_project_id_message_id_idx/, { 10: 'failed' }],
  ])('%s walks the index %s', async (name, index, asked) => {
    const text = declaredStatements().find((each) => each.name === name)?.text;
    const [last, first] = ['f', '0'].map((digit) => anId.replaceAll(/[\da-f]/g, digit));
    const none: unknown[] = Array.from({ length: 7 }, () => null);
    const values = Object.assign([newId(), last, first, 200, ...none], asked);
    const plan = await test.database.raw(`EXPLAIN (COSTS OFF) ${text}`, values);
    expect(plan.map((row) => String(row['QUERY PLAN'])).join('\n')).toMatch(index);
  });
});

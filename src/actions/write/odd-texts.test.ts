import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { wholeProject } from '../../events/index.ts';
import { newId } from '../../kit/ids.ts';
import { groundOf, intake, projectId } from '../../operations/harness.fixture.ts';
import { createOperations, eraseOperations, type Operations } from '../../operations/index.ts';
import { doubtWrites } from './restored.ts';

describe('what former releases stored with a NUL', () => {
  let test: TestDatabase;
  let operations: Operations;
  let operationId = '';

  beforeAll(async () => {
    test = await createTestDatabase();
    operations = createOperations(groundOf(test.database));
    const request = {
      type: 'update',
      mode: 'asynchronous',
      form: 'single',
      kind: 'update',
      objectName: 'contacts',
      upsertBy: 'a\0b',
      allOrNone: false,
      headers: [],
      provider: 'hubspot',
      connectionId: newId(),
      groupRef: 'acme',
    };
    const record = { id: '1', fields: { firstname: 'a\0b' } };
    ({ operationId } = await operations.acceptQueued(intake({ request, records: [record] })));
  });
  afterAll(async () => {
    await operations?.close();
    await test?.drop();
  });

  const ids = async (errorCategory: 'unknownOutcome' | 'validation'): Promise<string[]> => {
    const { results } = await operations.listAll(wholeProject(projectId), { errorCategory, pageSize: 10 });
    return results.map(({ id }) => id);
  };

  it('ends, and is found by the id of its record', async () => {
    expect(await doubtWrites(groundOf(test.database))).toEqual({ ended: 1, toLookUp: 0 });
    expect(await ids('unknownOutcome')).toEqual([operationId]);
    expect(await test.database.raw('SELECT operation_id FROM written_record')).toEqual([
      { operation_id: operationId },
    ]);
  });

  it('is listed by a failure whose message has half of a surrogate pair', async () => {
    await test.database.raw(
      String.raw`UPDATE operation SET errors = '[{"index":0,"category":"unknownOutcome","retryable":false,"message":"\ud83d"}]'`,
    );
    expect(await ids('unknownOutcome')).toEqual([operationId]);
  });

  it('is erased', async () => {
    const slice = {
      projectId,
      groupRef: 'acme',
      after: '00000000-0000-0000-0000-000000000000',
      until: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      askedAt: new Date().toISOString(),
    };
    const erased = await test.database.transaction((tx) => eraseOperations(tx, slice, 10));
    expect(erased).toMatchObject({ scanned: 1, removed: expect.any(Number) as number, unfinished: 0 });
    for (const table of ['operation', 'record', 'written_record'])
      expect(await test.database.raw(`SELECT FROM ${table}`)).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { ProviderClient } from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { readBack, type ReadBackContext } from './read-back.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

describe('src/actions/write/send/read-back', () => {
  let sim: Simulated;
  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce);
    const shared = { name: 'Shared__c', type: 'string', externalId: true, idLookup: true, unique: false };
    const exact = { name: 'Exact__c', type: 'string', externalId: true, unique: true, caseSensitive: true };
    await sim.control('POST', '/schema', { fields: { Contact: [shared, exact] } });
  });
  afterAll(() => sim?.close());

  const look = (
    records: readonly PlannedRecord[],
    startedAt: number,
    more: Partial<Pick<ReadBackContext, 'client'>> = {},
  ) =>
    readBack(
      'Contact',
      records.map((record) => ({ record, startedAt, quiet: true })),
      { ...sim.context('Contact'), twice: false, claimed: [], ...more },
    );

  test('what was created is found on a later page, too; of a value with more records than a page nothing is told', async () => {
    const startedAt = Date.now();
    const records = ['of none', 'of many', 'of one'].map((Shared__c): PlannedRecord => ({
      fields: { LastName: 'S', Shared__c },
    }));
    const rows = Array.from({ length: 2_001 }, () => ({ LastName: 'Other', Shared__c: 'of many' }));
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'Contact',
      records: [...rows, records[2]?.fields],
    });
    expect(await look(records, startedAt)).toMatchObject([
      { absent: { value: 'of none' }, over: true, hides: true },
      { barred: { category: 'conflict' } },
      { kind: 'applied', recordId: ids.at(-1) },
    ]);
  });

  test.each([
    ['of the unique field', ['shared__c'], 'LastName'],
    ['of a field of two records', ['Shared__c', 'Shared__c'], 'lastname'],
  ])('what was created is found, in whatever case its fields are named: %s', async (what, keys, name) => {
    const startedAt = Date.now();
    const values = keys.map((_, n) => `${n} ${what}`);
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'Contact',
      records: values.map((Shared__c) => ({ LastName: 'S', Shared__c })),
    });
    const records = keys.map((key, n): PlannedRecord => ({
      fields: { [n === 0 ? 'LastName' : name]: 'S', [key]: values[n] },
    }));
    expect(await look(records, startedAt)).toMatchObject(
      ids.map((recordId) => ({ kind: 'applied', recordId })),
    );
  });

  test('what was created is looked for in smaller parts where an answer is too large to be read', async () => {
    const startedAt = Date.now();
    const records = [1, 2, 3, 4].map((n): PlannedRecord => ({
      fields: { LastName: 'S', Shared__c: `large ${n}`, Description: 'x'.repeat(1_000) },
    }));
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'Contact',
      records: records.map(({ fields }) => fields),
    });
    const client: ProviderClient = {
      async send(request) {
        const result = await sim.client.send(request);
        const isLarge =
          'answer' in result && request.path.includes('/query') && result.answer.body.length > 3_500;
        return isLarge ? { fault: { kind: 'tooLarge', sent: true, message: 'too large' } } : result;
      },
    };
    const { result, requests } = await sim.during(() => look(records, startedAt, { client }));
    expect(result).toMatchObject(ids.map((recordId) => ({ kind: 'applied', recordId })));
    expect(requests.filter(({ path }) => path.includes('/query'))).toHaveLength(3);
  });

  test('what was created is looked for in smaller parts where its values have no room in one address', async () => {
    const startedAt = Date.now();
    const records = Array.from({ length: 20 }, (_, n): PlannedRecord => ({
      fields: { LastName: 'S', Shared__c: `${n}`.padEnd(255, '値') },
    }));
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'Contact',
      records: records.map(({ fields }) => fields),
    });
    const { result, requests } = await sim.during(() => look(records, startedAt));
    expect(result).toMatchObject(ids.map((recordId) => ({ kind: 'applied', recordId })));
    expect(Math.max(...requests.map(({ path }) => path.length))).toBeLessThan(8_000);
  });

  test('where the case of a value counts, a record is not taken for one whose value differs in it', async () => {
    const startedAt = Date.now();
    const records = ['key', 'KEY', 'Key'].map((Exact__c): PlannedRecord => ({
      fields: { LastName: 'S', Exact__c },
    }));
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'Contact',
      records: records.slice(1).map(({ fields }) => fields),
    });
    expect(await look(records, startedAt)).toMatchObject([
      { absent: { value: 'key' } },
      { kind: 'applied', recordId: ids[0] },
      { kind: 'applied', recordId: ids[1] },
    ]);
  });
});

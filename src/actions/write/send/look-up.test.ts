import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { executeWrite, type WriteJob } from './execute.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

describe('src/actions/write/send/look-up', () => {
  let sim: Simulated;
  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce);
    const number = { name: 'No__c', type: 'double', externalId: true, idLookup: true, unique: true };
    await sim.control('POST', '/schema', { fields: { Contact: [number] } });
  });
  afterAll(() => sim?.close());

  const by = (upsertBy: string): WriteJob => ({
    kind: 'upsert',
    objectName: 'Contact',
    upsertBy,
    allOrNone: false,
    headers: [],
  });
  const execute = (job: WriteJob, records: readonly PlannedRecord[]) =>
    executeWrite(job, records, sim.context('Contact'));
  const numbered = (No__c: unknown, key: string, title: string): PlannedRecord => {
    const fields = { No__c, LastName: 'N', Title: title };
    return { key, fields, onUpdate: { fields, ifEmpty: ['Title'] } };
  };

  test('a number is looked up as a number, in whatever notation', async () => {
    const [made] = await execute(by('No__c'), [numbered(7, '7', 'First')]);
    expect(made).toMatchObject({ kind: 'applied', created: true });
    const { result, effects } = await sim.during(() =>
      execute(by('No__c'), [numbered(7, '7.0', 'Second'), numbered(8, '8', 'Other')]),
    );
    expect(result).toMatchObject([
      { kind: 'applied', created: false },
      { kind: 'applied', created: true },
    ]);
    expect(effects.find(({ kind }) => kind === 'update')?.fields).not.toHaveProperty('Title');
  });

  test('a value that the field cannot hold fails its own record alone', async () => {
    const { result, requests } = await sim.during(() =>
      execute(by('No__c'), [numbered('seven', 'seven', 'A'), numbered(9, '9', 'B')]),
    );
    expect(result).toMatchObject([
      { kind: 'notApplied', failure: { category: 'validation', retryable: false } },
      { kind: 'applied', created: true },
    ]);
    expect((result[0] as { failure: { message: string } }).failure.message).toContain('"seven"');
    expect(JSON.stringify(requests.map(({ path, body }) => [path, body]))).not.toContain('seven');
  });

  test.each(['update', 'upsert'] as const)(
    'a name that the object does not have fails the conditional records of it alone (%s)',
    async (kind) => {
      const before = [1, 2, 3]
        .map((n) => (kind === 'update' ? 20 : 30) + n)
        .map((No__c) => ({ key: String(No__c), fields: { No__c, LastName: 'F' } }));
      const made = await execute(by('No__c'), before);
      const conditional = (slot: number, fields: Record<string, unknown>): PlannedRecord => {
        const { key, fields: own } = before[slot] as (typeof before)[number];
        const { recordId = '' } = made[slot] as { recordId?: string };
        const ifEmpty = Object.keys(fields);
        if (kind === 'update') return { id: recordId, fields, ifEmpty };
        return { key, fields: { ...own, ...fields }, onUpdate: { fields: { ...own, ...fields }, ifEmpty } };
      };
      const records = [{ Title: 'T0' }, { Titel: 'T1' }, { Title: 'T2' }].map((one, slot) =>
        conditional(slot, one),
      );
      const job: WriteJob = kind === 'update' ? { ...by(''), kind } : by('No__c');
      const { result, effects } = await sim.during(() => execute(job, records));
      expect(result).toMatchObject([
        { kind: 'applied' },
        { kind: 'notApplied', failure: { category: 'validation', retryable: false } },
        { kind: 'applied' },
      ]);
      expect(effects.map(({ fields }) => fields?.['Title'])).toEqual(['T0', 'T2']);
    },
  );
});

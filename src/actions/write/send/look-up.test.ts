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
});

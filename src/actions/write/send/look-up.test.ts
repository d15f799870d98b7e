import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { ObjectDescription } from '../../../providers/index.ts';
import type { WritePlan } from '../prepare/plan.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { dryRun } from './dry-run.ts';
import { executeWrite, type WriteJob } from './execute.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

describe('src/actions/write/send/look-up', () => {
  let sim: Simulated;
  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce);
    const number = { name: 'No__c', type: 'double', externalId: true, idLookup: true, unique: true };
    const shared = { name: 'Shared__c', type: 'string', externalId: true, idLookup: true, unique: false };
    const exact = { ...shared, name: 'Exact__c', unique: true, caseSensitive: true };
    const text = { name: 'Ext__c', type: 'string', externalId: true, idLookup: true, unique: true };
    await sim.control('POST', '/schema', { fields: { Contact: [number, text, shared, exact] } });
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

  test('two notations of a number lead to one record: what the first filled is not empty for the other', async () => {
    const fields = { No__c: 15, LastName: 'N' };
    await execute(by('No__c'), [{ key: '15', fields }]);
    const records = [
      numbered(15, '15', 'First'),
      numbered(16, '16', 'Other'),
      numbered(15, '15.0', 'Second'),
    ];
    const { result, effects } = await sim.during(() => execute(by('No__c'), records));
    expect(result.map((one) => one.kind === 'applied' && one.created)).toEqual([false, true, false]);
    expect(effects.map((one) => one.fields?.['Title'])).toEqual(['First', 'Other', undefined]);
    const { effects: none } = await sim.during(() =>
      execute({ ...by('No__c'), allOrNone: true }, [numbered(15, '15', 'A'), numbered(15, '15.0', 'B')]),
    );
    expect(none).toEqual([]);
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

  const keyed = (Ext__c: string, more: Record<string, unknown>, ifEmpty: string[]): PlannedRecord => {
    const fields = { Ext__c, LastName: 'K', ...more };
    return { key: Ext__c, fields, onUpdate: { fields, ifEmpty } };
  };

  test.each(['Last Name', "$['MailingAddress']['city']"])(
    'a name that no field can have fails the upserts of it alone: %s',
    async (name) => {
      const key = (letter: string) => `${letter} of ${name}`;
      await execute(by('Ext__c'), [keyed(key('b'), {}, [])]);
      const records = [
        keyed(key('a'), { Title: 'T' }, ['Title']),
        keyed(key('b'), { [name]: 'X' }, [name]),
        keyed(key('c'), { [name]: 'X' }, [name]),
      ];
      const { result, effects } = await sim.during(() => execute(by('Ext__c'), records));
      const refused = { kind: 'notApplied', failure: { category: 'validation', retryable: false } };
      expect(result).toMatchObject([{ kind: 'applied', created: true }, refused, refused]);
      expect((result[1] as { failure: { message: string } }).failure.message).toContain(JSON.stringify(name));
      expect(effects.length).toBe(1);
      // The one that is not there yet is made without a look at its fields.
      const { calls, refused: shown } = dryRun(planOf('upsert', records), 'salesforce');
      expect([calls.map(({ method }) => method), shown]).toEqual([['GET', 'PATCH'], undefined]);
    },
  );

  test('keys that have no room in one address are looked up in several reads, as a dry run shows', async () => {
    const records = Array.from({ length: 20 }, (_, n) =>
      keyed(`${n}`.padEnd(255, 'ж'), { Title: 'T' }, ['Title']),
    );
    const { result, requests } = await sim.during(() => execute(by('Ext__c'), records));
    expect(result).toMatchObject(records.map(() => ({ kind: 'applied', created: true })));
    const { calls } = dryRun(planOf('upsert', records), 'salesforce');
    const looks = calls.map(({ path }) => path).filter((path) => path.includes('/query'));
    expect(looks.length).toBeGreaterThan(1);
    expect(Math.max(...looks.map((path) => path.length))).toBeLessThan(8_000);
    expect(pathsOf(requests).map(decodeURIComponent)).toEqual(
      calls.map(({ path }) => decodeURIComponent(path)),
    );
  });

  test('a record that stands on a later page of the look is not taken for missing', async () => {
    const rows = Array.from({ length: 2_001 }, () => ({ LastName: 'S', Shared__c: 'of many' }));
    const own = { LastName: 'S', Shared__c: 'of one', Title: 'Filled' };
    await sim.control('POST', '/data', { object: 'Contact', records: [...rows, own] });
    const conditional = (key: string): PlannedRecord => {
      const fields = { Shared__c: key, LastName: 'S', Title: 'T' };
      return { key, fields, onUpdate: { fields, ifEmpty: ['Title'] } };
    };
    const records = ['of none', 'of many', 'of one'].map(conditional);
    const { result, effects } = await sim.during(() => execute(by('Shared__c'), records));
    expect(result).toMatchObject([
      { kind: 'applied', created: true },
      { kind: 'notApplied', failure: { category: 'conflict', retryable: false } },
      { kind: 'applied', created: false },
    ]);
    expect(result[1]).toHaveProperty('failure.message', expect.stringContaining('Shared__c'));
    expect(effects.map(({ kind, fields }) => [kind, fields?.['Title']])).toEqual([
      ['create', 'T'],
      ['update', undefined],
    ]);
  });

  test('values that differ in their case are two records where the field regards it, and one otherwise', async () => {
    const upserts = (field: string) =>
      ['Key', 'KEY'].map((key): PlannedRecord => {
        const fields = { [field]: key, LastName: 'C', Title: `of ${key}` };
        return { key, fields, onUpdate: { fields, ifEmpty: ['Title'] } };
      });
    const made = await execute(by('Exact__c'), upserts('Exact__c'));
    expect(made).toMatchObject(made.map(() => ({ kind: 'applied', created: true })));
    const { effects } = await sim.during(() => execute(by('Ext__c'), upserts('Ext__c')));
    expect(effects.map(({ kind, fields }) => [kind, fields?.['Title']])).toEqual([
      ['create', 'of Key'],
      ['update', undefined],
    ]);
  });

  test('a record that has no value of the look fails the upsert by the value that it was found by, and no other', async () => {
    const CreatedDate = '2026-01-02T03:04:05.000+0000';
    const standing = { Id: '003000000000ZZZAAA', CreatedDate, Ext__c: 'another', Title: null };
    const body = { totalSize: 1, done: true, records: [standing] };
    await sim.fault({ method: 'GET', path: 'odd', times: 100, fault: { kind: 'status', status: 200, body } });
    const records = ['one', 'two', 'odd', 'four'].map((key) => keyed(key, { Title: 'T' }, ['Title']));
    expect(await execute(by('Ext__c'), records)).toMatchObject([
      { kind: 'applied', created: true },
      { kind: 'applied', created: true },
      { kind: 'notApplied', failure: { category: 'providerDown', retryable: true } },
      { kind: 'applied', created: true },
    ]);
    await sim.control('DELETE', '/faults');
  });

  test('an update of a name that no field can have is refused before anything is read', async () => {
    const fields = { LastName: 'U', 'Last Name': 'U' };
    const [made] = await execute({ ...by(''), kind: 'create' }, [{ fields: { LastName: 'U' } }]);
    const { recordId: id = '' } = made as { recordId?: string };
    const records = [{ id, fields, ifEmpty: ['LastName', 'Last Name'] }];
    const { result, requests } = await sim.during(() => execute({ ...by(''), kind: 'update' }, records));
    expect(result).toMatchObject([{ kind: 'notApplied', failure: { category: 'validation' } }]);
    expect(requests).toEqual([]);
    const { calls, refused } = dryRun(planOf('update', records), 'salesforce');
    expect(calls).toEqual([]);
    expect(refused).toMatchObject([{ index: 0, category: 'validation' }]);
  });

  test('an id of another form fails its own record alone, though it comes with others that are looked at', async () => {
    const create = { ...by(''), kind: 'create' as const };
    const made = await execute(create, [{ fields: { LastName: 'V' } }, { fields: { LastName: 'W' } }]);
    const [one = '', two = ''] = made.map((outcome) => (outcome as { recordId?: string }).recordId);
    const records = [one, '0035g', two].map((id) => ({ id, fields: { Title: 'T' }, ifEmpty: ['Title'] }));
    expect(await execute({ ...by(''), kind: 'update' }, records)).toMatchObject([
      { kind: 'applied', recordId: one },
      { kind: 'notApplied', failure: { category: 'validation' } },
      { kind: 'applied', recordId: two },
    ]);
  });

  test('a dry run shows what is refused for its value, and no call of it', async () => {
    const described = await sim.context('Contact').describe();
    const { object } = described as { object: ObjectDescription };
    const records = [numbered('seven', 'seven', 'A'), numbered(41, '41', 'B')];
    const job = planOf('upsert', records, 'No__c');
    const { calls, refused } = dryRun(job, 'salesforce', object);
    expect(refused).toMatchObject([{ index: 0, category: 'validation' }]);
    const { requests } = await sim.during(() => execute(by('No__c'), records));
    expect(calls.map(({ path }) => path)).toEqual(pathsOf(requests));
    const together = dryRun({ ...job, allOrNone: true }, 'salesforce', object);
    expect([together.calls, together.refused?.length]).toEqual([[], 2]);
    const { result, requests: none } = await sim.during(() =>
      execute({ ...by('No__c'), allOrNone: true }, records),
    );
    expect(result.map(({ kind }) => kind)).toEqual(['notApplied', 'notApplied']);
    expect(pathsOf(none)).toEqual([]);
  });
});

function planOf(
  kind: 'update' | 'upsert',
  records: readonly PlannedRecord[],
  upsertBy = 'Ext__c',
): WritePlan {
  const by = kind === 'upsert' ? { upsertBy } : {};
  return {
    kind,
    objectName: 'Contact',
    ...by,
    allOrNone: false,
    headers: [],
    records,
  } as unknown as WritePlan;
}

/** Without those that ask for the object: a dry run is given it. */
function pathsOf(requests: readonly { path: string }[]): string[] {
  return requests.map(({ path }) => path).filter((path) => !path.endsWith('/describe'));
}

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import { attemptWrite, resolveStopped, type AttemptContext, type AttemptJob } from './attempt.ts';
import { creates, failureOf } from './attempt-cases.fixture.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

/** `ExtId__c` may stand twice; `External_Id__c` may not. */
const objects = [
  { objectName: 'UpsertTable__c', key: 'ExtId__c', name: 'Name', isEnforced: false },
  { objectName: 'Contact', key: 'External_Id__c', name: 'LastName', isEnforced: true },
];
const quiet: Failure = {
  category: 'unknownOutcome',
  retryable: false,
  message: 'lost',
  pending: true,
  quiet: true,
};

describe.each(objects)(
  'src/actions/write/changed-since: $objectName',
  ({ objectName, key, name, isEnforced }) => {
    let sim: Simulated;
    let userId = '';

    beforeAll(async () => {
      sim = await startSimulated('salesforce', startSalesforce, 400);
      const more = [
        { name: 'At__c', type: 'datetime' },
        { name: 'Amount__c', type: 'double', precision: 18, scale: 2 },
      ];
      await sim.control('POST', '/schema', { fields: { [objectName]: more } });
      const soql = encodeURIComponent('SELECT Id FROM User LIMIT 1');
      const read = await sim.client.send({ method: 'GET', path: `/services/data/v60.0/query?q=${soql}` });
      const { body } = (read as { answer: { body: string } }).answer;
      userId = (JSON.parse(body) as { records: { Id: string }[] }).records[0]?.Id ?? '';
    });
    afterEach(async () => {
      await sim.control('DELETE', '/faults');
    });
    afterAll(() => sim.close());

    let count = 0;
    const fresh = (more: Record<string, unknown> = {}): PlannedRecord => ({
      fields: { [key]: `k${++count}`, [name]: 'Ada', ...more },
    });
    const job = (more: Partial<AttemptJob> = {}): AttemptJob => ({
      kind: 'create',
      mode: 'asynchronous',
      objectName,
      allOrNone: false,
      headers: [],
      ...more,
    });
    const attempt = (
      records: PlannedRecord[],
      more: Partial<AttemptJob> = {},
      earlier: [number, Failure][] = [],
      context: Partial<AttemptContext> = {},
    ): Promise<RecordOutcome[]> =>
      attemptWrite(
        job(more),
        { acceptedAt, records, earlier: new Map(earlier) },
        sim.context(objectName, context),
      );
    const acceptedAt = Date.now();
    const make = async (records: PlannedRecord[]): Promise<string[]> =>
      (await attempt(records)).map((one) => (one as { recordId: string }).recordId);
    const change = (...ids: string[]): Promise<RecordOutcome[]> =>
      attempt(
        ids.map((id) => ({ id, fields: { [name]: 'Eva' } })),
        { kind: 'update' },
      );
    const lose = (path: string): Promise<void> =>
      sim.fault({ method: 'POST', path, fault: { kind: 'reset-after' } });

    test.each([
      ['an id of 15 characters', () => ({ OwnerId: userId.slice(0, 15) })],
      ['a time in milliseconds', () => ({ At__c: '2026-11-27T14:15:18.123Z' })],
      ['a number of three decimals', () => ({ Amount__c: 10.123 })],
    ])('a lost create is found although the provider keeps %s otherwise', async (_what, more) => {
      await lose(`/sobjects/${objectName}`);
      const { result, effects } = await sim.during(() => attempt([fresh(more())]));
      expect(result).toMatchObject([{ kind: 'applied', lookedUpBy: key }]);
      expect(creates(effects)).toBe(1);
    });

    test.each(['fail', 'retry'] as const)(
      'a lost create whose record was changed since is neither called undone nor sent again (onUnknown: %s)',
      async (onUnknown) => {
        const record = fresh();
        const [id = ''] = await make([record]);
        await change(id);
        const { result, effects } = await sim.during(async () => {
          const given = { acceptedAt, records: [record], earlier: new Map() };
          const stopped = await resolveStopped(job({ onUnknown }), given, sim.context(objectName));
          return [...stopped, ...(await attempt([record], { onUnknown }, [[0, quiet]]))];
        });
        const end = { category: 'unknownOutcome', retryable: false, existingRecordId: id, lookedUpBy: key };
        const named = expect.stringContaining(name) as string;
        for (const outcome of result) {
          expect(outcome).toMatchObject({ kind: 'unknown', failure: { ...end, message: named } });
          expect(failureOf([outcome])).not.toHaveProperty('pending');
        }
        expect(effects).toEqual([]);
      },
    );

    test('records of one batch are told apart before any of them is taken for a changed one', async () => {
      const [one, two] = [fresh(), fresh()];
      const other = isEnforced ? two : { fields: { ...one.fields, [name]: 'Grace' } };
      const [id] = await make([other]);
      const given = { acceptedAt, records: [one, other], earlier: new Map() };
      const result = await resolveStopped(job(), given, sim.context(objectName));
      expect(result).toMatchObject([
        { kind: 'unknown', failure: { pending: true } },
        { kind: 'applied', recordId: id },
      ]);
      expect(failureOf(result)).not.toHaveProperty('existingRecordId');
    });

    test('a record that another create is known to have made is not taken for a changed one', async () => {
      const record = fresh();
      const [id = ''] = await make([record]);
      await change(id);
      const madeElsewhere = async (ids: readonly string[]): Promise<string[]> =>
        ids.filter((one) => one === id);
      const { result, effects } = await sim.during(() =>
        attempt([record], { onUnknown: 'retry' }, [[0, quiet]], { madeElsewhere }),
      );
      expect(result).toMatchObject([{ kind: isEnforced ? 'notApplied' : 'applied' }]);
      expect(creates(effects)).toBe(isEnforced ? 0 : 1);
    });

    test('all or none: of a call that was done the changed record is its own', async () => {
      const records = [fresh(), fresh()];
      const [changed = '', left] = await make(records);
      await change(changed);
      const given = { acceptedAt, records, earlier: new Map() };
      const result = await resolveStopped(job({ allOrNone: true }), given, sim.context(objectName));
      expect(result).toMatchObject([
        { kind: 'applied', recordId: changed, lookedUpBy: key },
        { kind: 'applied', recordId: left },
      ]);
    });

    test('all or none: where each record was changed or is not there, none is sent again', async () => {
      const records = [fresh(), fresh()];
      const [changed = ''] = await make(records.slice(0, 1));
      await change(changed);
      const earlier = records.map((_, slot): [number, Failure] => [slot, quiet]);
      const { result, effects } = await sim.during(() => attempt(records, { allOrNone: true }, earlier));
      expect(result).toMatchObject([
        { kind: 'unknown', failure: { retryable: false, existingRecordId: changed } },
        { kind: 'unknown', failure: { retryable: false } },
      ]);
      expect(result.map((one) => failureOf([one]).pending)).toEqual([undefined, undefined]);
      expect(effects).toEqual([]);
    });
  },
);

test('src/actions/write/changed-since: a refusal as a duplicate may be about a changed record of ours', async () => {
  const sim = await startSimulated('salesforce', startSalesforce, 400);
  const objectName = 'Contact';
  const job = { kind: 'create', mode: 'asynchronous', objectName, allOrNone: false, headers: [] } as const;
  const fields = { External_Id__c: 'late', LastName: 'Ada' };
  const acceptedAt = Date.now();
  const create = (record: PlannedRecord, earlier: [number, Failure][] = []): Promise<RecordOutcome[]> =>
    attemptWrite(
      { ...job, headers: [] },
      { acceptedAt, records: [record], earlier: new Map(earlier) },
      sim.context(objectName),
    );
  const [made] = await create({ fields: { ...fields, LastName: 'Eva' } });
  const absent: Failure = {
    category: 'providerDown',
    retryable: true,
    message: 'not there',
    lookedUpBy: 'External_Id__c',
  };
  const again = await create({ fields }, [[0, absent]]);
  await sim.close();
  const { recordId } = made as { recordId: string };
  expect(again).toMatchObject([
    { kind: 'unknown', failure: { retryable: false, existingRecordId: recordId } },
  ]);
});

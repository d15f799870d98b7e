import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { attemptWrite, resolveStopped, type AttemptJob } from './attempt.ts';
import { creates, failureOf } from './attempt-cases.fixture.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

/** Each has a unique field; that of the second one may hold a value twice. */
const objects = {
  Contact: { key: 'External_Id__c', name: 'LastName' },
  UpsertTable__c: { key: 'ExtId__c', name: 'Name' },
};
type ObjectName = keyof typeof objects;

describe('src/actions/write/unseen: a record that the user of the connection does not see', () => {
  let sim: Simulated;
  let ownerId = '';
  let count = 0;

  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce, 400);
    await sim.control('POST', '/settings', { privateObjects: Object.keys(objects) });
    const { ids } = await sim.control<{ ids: string[] }>('POST', '/data', {
      object: 'User',
      records: [
        { Username: 'other@example.com', LastName: 'Other', Email: 'other@example.com', Alias: 'other' },
      ],
    });
    ownerId = ids[0] as string;
  });
  afterEach(async () => {
    await sim.control('DELETE', '/faults');
  });
  afterAll(() => sim.close());

  const given = (objectName: ObjectName, more: Record<string, unknown> = { OwnerId: ownerId }) => {
    const { key, name } = objects[objectName];
    return { fields: { [key]: `unseen-${++count}`, [name]: 'Ada', ...more } };
  };
  const jobOf = (objectName: ObjectName, more: Partial<AttemptJob> = {}): AttemptJob => ({
    kind: 'create',
    mode: 'asynchronous',
    objectName,
    allOrNone: false,
    headers: [],
    ...more,
  });
  const acceptedAt = Date.now();
  const attempt = (job: AttemptJob, records: PlannedRecord[], earlier: RecordOutcome[] = []) =>
    attemptWrite(
      job,
      {
        acceptedAt,
        records,
        earlier: new Map(earlier.map((one, slot): [number, Failure] => [slot, failureOf([one])])),
      },
      sim.context(job.objectName),
    );
  const loseAnswer = () => sim.fault({ method: 'POST', path: 'sobjects', fault: { kind: 'reset-after' } });

  test('a lost create of it is sent again where its value is enforced, and the refusal of that is not told as its end', async () => {
    const job = jobOf('Contact');
    const records = [given('Contact')];
    await loseAnswer();
    const { result, effects } = await sim.during(async () => {
      const first = await attempt(job, records);
      expect(first).toMatchObject([{ kind: 'unknown', failure: { pending: true } }]);
      return attempt(job, records, first);
    });
    expect(creates(effects)).toBe(1);
    expect(result).toEqual([
      {
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: false,
          message: expect.stringContaining('DUPLICATE_VALUE') as string,
          provider: expect.objectContaining({ code: 'DUPLICATE_VALUE' }) as object,
          existingRecordId: effects[0]?.id,
          lookedUpBy: 'External_Id__c',
        },
      },
    ]);
  });

  test.each([
    'FIELD_CUSTOM_VALIDATION_EXCEPTION',
    'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY',
    'CANNOT_EXECUTE_FLOW_TRIGGER',
  ])(
    'a lost create of it is not told as failed where code of the account refuses a second one: %s',
    async (errorCode) => {
      const job = jobOf('Contact');
      const records = [given('Contact')];
      await loseAnswer();
      const { result, effects } = await sim.during(async () => {
        const first = await attempt(job, records);
        const body = [{ errorCode, message: 'there is one' }];
        await sim.fault({ method: 'POST', path: 'sobjects', fault: { kind: 'status', status: 400, body } });
        return attempt(job, records, first);
      });
      expect(creates(effects)).toBe(1);
      expect(result).toMatchObject([
        { kind: 'unknown', failure: { provider: { code: errorCode }, lookedUpBy: 'External_Id__c' } },
      ]);
      expect(result).not.toHaveProperty('0.failure.pending');
    },
  );

  test('nor are records of it that were to be written all or none', async () => {
    const job = jobOf('Contact', { allOrNone: true });
    const records = [given('Contact'), given('Contact')];
    await loseAnswer();
    const first = await attempt(job, records);
    const body = ['FIELD_CUSTOM_VALIDATION_EXCEPTION', 'ALL_OR_NONE_OPERATION_ROLLED_BACK'].map(
      (statusCode) => ({ success: false, errors: [{ statusCode, message: 'there is one', fields: [] }] }),
    );
    await sim.fault({ method: 'POST', path: 'sobjects', fault: { kind: 'status', status: 200, body } });
    const last = await attempt(job, records, first);
    expect(last.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
  });

  test.each(['fail', 'retry'] as const)(
    'one whose value nothing enforces is sent again only for a caller who prefers a duplicate (onUnknown: %s)',
    async (onUnknown) => {
      const job = jobOf('UpsertTable__c', { onUnknown });
      const records = [given('UpsertTable__c')];
      await loseAnswer();
      const { result, effects } = await sim.during(async () => {
        const first = await attempt(job, records);
        expect(first).toMatchObject([{ kind: 'unknown', failure: { pending: true, quiet: true } }]);
        return attempt(job, records, first);
      });
      expect([result[0]?.kind, creates(effects)]).toEqual(
        onUnknown === 'fail' ? ['unknown', 1] : ['applied', 2],
      );
      expect('pending' in ((result[0] as { failure?: Failure }).failure ?? {})).toBe(false);
    },
  );

  test.each(['Contact', 'UpsertTable__c'] as const)(
    'a synchronous one is not called undone when it can come no more (%s)',
    async (objectName) => {
      const job = jobOf(objectName, { mode: 'synchronous' });
      const records = [given(objectName)];
      await loseAnswer();
      const first = await attempt(job, records);
      const earlier = new Map([[0, failureOf(first)]]);
      const last = await resolveStopped(job, { acceptedAt, records, earlier }, sim.context(objectName));
      expect(last).toMatchObject([
        {
          kind: 'unknown',
          failure: { message: expect.stringContaining('does not say that there is none') as string },
        },
      ]);
      expect(last).not.toHaveProperty('0.failure.pending');
    },
  );

  test('of records that were to be written all or none, one that is seen tells of the others', async () => {
    const job = jobOf('UpsertTable__c', { allOrNone: true });
    const records = [given('UpsertTable__c'), given('UpsertTable__c', {})];
    await loseAnswer();
    const { result, effects } = await sim.during(() => attempt(job, records));
    expect(result.map(({ kind }) => kind)).toEqual(['applied', 'applied']);
    expect(creates(effects)).toBe(2);
  });

  test('one that its user sees is found as ever', async () => {
    await loseAnswer();
    expect(await attempt(jobOf('UpsertTable__c'), [given('UpsertTable__c', {})])).toMatchObject([
      { kind: 'applied', lookedUpBy: 'ExtId__c' },
    ]);
  });
});

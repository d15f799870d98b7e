import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import { mayTryAgain } from '../record/next-step.ts';
import { attemptWrite, type AttemptJob } from './attempt.ts';
import { attemptUpsert } from './attempt-upsert.ts';
import { keepAllBack } from './one-call.ts';
import { failureOf } from './attempt-cases.fixture.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

const objectName = 'UpsertTable__c';
const job: AttemptJob = {
  kind: 'upsert',
  upsertBy: 'ExtId__c',
  mode: 'asynchronous',
  objectName,
  allOrNone: true,
  headers: [],
};

describe('src/actions/write/all-or-none', () => {
  let sim: Simulated;
  let count = 0;

  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce, 400);
  });
  afterEach(async () => {
    await sim.control('DELETE', '/faults');
  });
  afterAll(() => sim.close());

  const fresh = (more: Record<string, unknown> = {}): PlannedRecord => {
    const key = `aon-${++count}`;
    return { key, fields: { ExtId__c: key, Name: 'Ada', ...more } };
  };
  const answer = (...codes: string[]): Promise<void> => {
    const body = codes.map((statusCode) => ({
      success: false,
      created: false,
      errors: [{ statusCode, message: statusCode, fields: [] }],
    }));
    return sim.fault({ method: 'PATCH', path: '/composite', fault: { kind: 'status', status: 200, body } });
  };
  const asynchronous = (records: PlannedRecord[], earlier: [number, Failure][] = []) =>
    attemptWrite(
      job,
      { acceptedAt: Date.now(), records, earlier: new Map(earlier) },
      sim.context(objectName),
    );
  const synchronous = (records: PlannedRecord[]) =>
    attemptUpsert(
      { ...job, mode: 'synchronous' },
      { records, earlier: new Map() },
      sim.context(objectName, { patienceMs: 5_000, lateEffectMs: 0 }),
    );
  const again = (outcomes: RecordOutcome[]): boolean[] => outcomes.map(mayTryAgain);
  const rolledBack = 'ALL_OR_NONE_OPERATION_ROLLED_BACK';

  test('one that is kept back fails as what keeps it back, with what the caller is told by', () => {
    const failure: Failure = {
      category: 'internal',
      retryable: true,
      message: 'no app',
      appInvalid: true,
      existingRecordId: '1',
      pending: true,
    };
    const [one, other] = [fresh(), fresh()];
    const outcomes = new Map<number, RecordOutcome>([[1, { kind: 'notApplied', failure }]]);
    const toSend = new Map([[0, one]]);
    keepAllBack([one, other], toSend, outcomes);
    expect([toSend.size, outcomes.get(0)]).toEqual([
      0,
      {
        kind: 'notApplied',
        failure: {
          category: 'internal',
          retryable: true,
          appInvalid: true,
          message: expect.stringContaining('no app'),
        },
      },
    ]);
  });

  test.each([
    ['a clash', ['DUPLICATE_VALUE', 'INVALID_FIELD', rolledBack]],
    ['a clash behind it', ['INVALID_FIELD', 'DUPLICATE_VALUE', rolledBack]],
    ['a lock', ['UNABLE_TO_LOCK_ROW', 'INVALID_FIELD', rolledBack]],
  ])('beside %s, a record that is refused for good is the end of all', async (_what, codes) => {
    for (const attempt of [asynchronous, synchronous]) {
      await answer(...codes);
      const { result, effects } = await sim.during(() => attempt(codes.map(() => fresh())));
      expect(result.map(({ kind }) => kind)).toEqual(Array(3).fill('notApplied'));
      expect(again(result)).toEqual([false, false, false]);
      expect(effects).toEqual([]);
    }
  });

  test.each([
    ['one clashes', ['DUPLICATE_VALUE', rolledBack, rolledBack]],
    ['one clashes and one is locked', ['UNABLE_TO_LOCK_ROW', 'DUPLICATE_VALUE', rolledBack]],
    ['one clashes and the limit is reached', ['DUPLICATE_VALUE', 'REQUEST_LIMIT_EXCEEDED', rolledBack]],
  ])('where %s, all are sent again, as one call', async (_what, codes) => {
    const records = codes.map(() => fresh());
    await answer(...codes);
    const first = await asynchronous(records);
    expect(again(first)).toEqual([true, true, true]);
    const earlier = first.map((one, slot): [number, Failure] => [slot, failureOf([one])]);
    const { result, effects } = await sim.during(() => asynchronous(records, earlier));
    expect(result.map(({ kind }) => kind)).toEqual(Array(3).fill('applied'));
    expect(effects).toHaveLength(3);
  });

  test('while the caller waits, a clash is sent again with all others, and not beside a lock that takes longer', async () => {
    await answer('DUPLICATE_VALUE', rolledBack, rolledBack);
    const soon = await sim.during(() => synchronous([fresh(), fresh(), fresh()]));
    expect(soon.result.map(({ kind }) => kind)).toEqual(Array(3).fill('applied'));
    expect(soon.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
    await answer('UNABLE_TO_LOCK_ROW', 'DUPLICATE_VALUE', rolledBack);
    const { result, effects } = await sim.during(() => synchronous([fresh(), fresh(), fresh()]));
    expect(again(result)).toEqual([true, true, true]);
    expect(effects).toEqual([]);
  });

  test('one that clashes a second time is refused for good, and so are all', async () => {
    const records = [fresh(), fresh(), fresh()];
    const codes = [rolledBack, 'DUPLICATE_VALUE', rolledBack];
    await answer(...codes);
    const first = await asynchronous(records);
    await answer(...codes);
    const second = await asynchronous(
      records,
      first.map((one, slot) => [slot, failureOf([one])]),
    );
    expect([again(first), again(second)]).toEqual([Array(3).fill(true), Array(3).fill(false)]);
  });

  test('of which the answer says nothing was not done where another was refused', async () => {
    const body = [{ success: false, errors: [{ statusCode: 'INVALID_FIELD', message: 'no' }] }, {}, {}];
    await sim.fault({ method: 'PATCH', path: '/composite', fault: { kind: 'status', status: 200, body } });
    const result = await asynchronous([fresh(), fresh(), fresh()]);
    const refused = { kind: 'notApplied', failure: { category: 'validation', retryable: false } };
    expect(result).toMatchObject([refused, refused, refused]);
  });

  test('after a lost answer the refusal of one record is the end of all, whose outcome is unknown', async () => {
    const refusals = ['INSUFFICIENT_ACCESS_OR_READONLY', 'INVALID_FIELD', rolledBack];
    await sim.fault({ method: 'PATCH', path: '/composite', fault: { kind: 'reset-before' } });
    await answer(...refusals);
    const result = await synchronous([fresh(), fresh(), fresh()]);
    expect(result.map(({ kind }) => kind)).toEqual(Array(3).fill('unknown'));
    expect(again(result)).toEqual([false, false, false]);
  });
});

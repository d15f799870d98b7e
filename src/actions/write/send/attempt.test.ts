import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHubspot } from '../../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import { sleep } from '../../../kit/retry.ts';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import { attemptWrite, resolveStopped, unsentForAll, type AttemptJob } from './attempt.ts';
import { attemptsAt, cases, creates, failureOf } from './attempt-cases.fixture.ts';
import type { PlannedRecord } from '../prepare/stored.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

const lostAnswers: [string, Record<string, unknown>][] = [
  ['a reset connection', { kind: 'reset-after' }],
  ['an answer cut off', { kind: 'truncate' }],
  ['an answer that is no JSON', { kind: 'malformed' }],
  ['silence', { kind: 'hang', effect: true }],
  ['a 500', { kind: 'status', status: 500, effect: true }],
];
const lostRequests: [string, Record<string, unknown>][] = [
  ['a reset connection', { kind: 'reset-before' }],
  ['silence', { kind: 'hang' }],
  ['a 500', { kind: 'status', status: 500 }],
];

const simulators = { hubspot: startHubspot, salesforce: startSalesforce };

describe.each(cases)('src/actions/write/attempt: $provider', (at) => {
  let sim: Simulated;

  beforeAll(async () => {
    sim = await startSimulated(at.provider, simulators[at.provider], 400);
  });
  afterEach(async () => {
    await sim.control('DELETE', '/faults');
  });
  afterAll(() => sim.close());

  const { fresh, job, attempt, keyless } = attemptsAt(at, () => sim);
  const pending: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };

  test.each(lostAnswers)('a create that was done is found after %s', async (_what, fault) => {
    await sim.fault({ method: 'POST', path: at.writePath, fault });
    const { result, effects } = await sim.during(() => attempt([fresh()]));
    expect(result).toMatchObject([{ kind: 'applied', recordId: expect.any(String), lookedUpBy: at.key }]);
    expect(effects).toMatchObject([{ kind: 'create', id: (result[0] as { recordId: string }).recordId }]);
  });

  test.each(lostRequests)(
    'a create that is not there after %s is not called undone, and is sent again where its value is enforced',
    async (_what, fault) => {
      await sim.fault({ method: 'POST', path: at.writePath, fault });
      const record = fresh();
      const { result, effects } = await sim.during(() => attempt([record]));
      expect(result).toMatchObject([
        { kind: 'unknown', failure: { retryable: false, pending: true, lookedUpBy: at.key } },
      ]);
      expect(effects).toEqual([]);
      const again = await sim.during(() => attempt([record], { earlier: [[0, failureOf(result)]] }));
      expect(again.result).toMatchObject([{ kind: 'applied' }]);
      expect(creates(again.effects)).toBe(1);
    },
  );

  test('a create that takes effect after it was looked for does not become two', async () => {
    for (const isLateAgain of [true, false]) {
      await sim.fault({ method: 'POST', path: at.writePath, fault: { kind: 'late', ms: 1_200 } });
      const record = fresh();
      const acceptedAt = Date.now();
      const { result, effects } = await sim.during(async () => {
        const first = await attempt([record], { acceptedAt });
        expect(first).toMatchObject([{ kind: 'unknown', failure: { pending: true } }]);
        if (isLateAgain) await sleep(1_500);
        const second = await attempt([record], { earlier: [[0, failureOf(first)]], acceptedAt });
        await sleep(1_500);
        return second;
      });
      expect(result).toMatchObject([{ kind: 'applied' }]);
      expect(creates(effects)).toBe(1);
    }
  });

  test('a synchronous create that is not there is looked for until it can no longer come, and is not sent again', async () => {
    // Salesforce may have what it does not show.
    const neverCame = {
      hubspot: { kind: 'notApplied', failure: { category: 'providerDown', retryable: true } },
      salesforce: { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false } },
    };
    for (const ms of [undefined, 1_200]) {
      const fault = ms === undefined ? { kind: 'hang' } : { kind: 'late', ms };
      await sim.fault({ method: 'POST', path: at.writePath, fault });
      const record = fresh();
      const synchronous = { mode: 'synchronous', onUnknown: 'retry' } as const;
      const acceptedAt = Date.now();
      const { result, effects } = await sim.during(async () => {
        const first = await attempt([record], { job: synchronous, acceptedAt });
        expect(first).toMatchObject([
          {
            kind: 'unknown',
            failure: { retryable: false, pending: true, quiet: true, retryAfterMs: 10_050 },
          },
        ]);
        const earlier = new Map([[0, failureOf(first)]]);
        await sleep(1_500);
        return resolveStopped(
          job(synchronous),
          { acceptedAt, records: [record], earlier },
          sim.context(at.object),
        );
      });
      expect(result).toMatchObject([
        ms === undefined ? neverCame[at.provider] : { kind: 'applied', lookedUpBy: at.key },
      ]);
      expect(creates(effects)).toBe(ms === undefined ? 0 : 1);
    }
  });

  test('a resend that is not done leaves open what the first one did', async () => {
    await sim.fault({ method: 'POST', path: at.writePath, fault: { kind: 'late', ms: 1_000 } });
    await sim.fault({ method: 'POST', path: `${at.writePath}$`, fault: { kind: 'status', ...at.tooMany } });
    const record = fresh();
    const acceptedAt = Date.now();
    const first = await attempt([record], { acceptedAt });
    const second = await attempt([record], { earlier: [[0, failureOf(first)]], acceptedAt });
    expect(second).toMatchObject([
      {
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: false,
          pending: true,
          retryAfterMs: expect.any(Number),
        },
      },
    ]);
    await sleep(1_000);
    const third = await attempt([record], { earlier: [[0, failureOf(second)]], acceptedAt });
    expect(third).toMatchObject([{ kind: 'applied', lookedUpBy: at.key }]);
  });

  test('a record that stood there before is a conflict, although it holds the same values', async () => {
    const record = fresh();
    const [before] = await attempt([record]);
    await sim.control('POST', '/clock', { advanceMs: 60_000 });
    await sim.fault({ method: 'POST', path: at.writePath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt([record]));
    expect(result).toMatchObject([
      {
        kind: 'notApplied',
        failure: {
          category: 'conflict',
          retryable: false,
          message: expect.stringContaining((before as { recordId: string }).recordId),
        },
      },
    ]);
    expect(effects).toEqual([]);
  });

  test('the provider’s clock may be hours away from ours', async () => {
    for (const shiftMs of [-7_200_000, 7_200_000]) {
      await sim.control('POST', '/clock', { shiftMs });
      await sim.fault({ method: 'POST', path: at.writePath, fault: { kind: 'reset-after' } });
      expect(await attempt([fresh()])).toMatchObject([{ kind: 'applied', lookedUpBy: at.key }]);
    }
    await sim.control('POST', '/clock', { shiftMs: 0 });
  });

  test('without a unique value the outcome stays unknown, and nothing is sent again', async () => {
    const { object: objectName, writePath: path } = at.keyless;
    await sim.fault({ method: 'POST', path, fault: { kind: 'reset-after' } });
    const record = keyless();
    const { result, effects } = await sim.during(() => attempt([record], { job: { objectName } }));
    expect(result).toMatchObject([
      { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false } },
    ]);
    expect(creates(effects)).toBe(1);
    const again = await sim.during(() => attempt([record], { job: { objectName }, earlier: [[0, pending]] }));
    expect(again.result).toMatchObject([{ kind: 'unknown', failure: { retryable: false } }]);
    expect(again.effects).toEqual([]);
  });

  test('unless the caller asked for it', async () => {
    const { object: objectName, writePath: path } = at.keyless;
    const retry = { objectName, onUnknown: 'retry' as const };
    await sim.fault({ method: 'POST', path, fault: { kind: 'reset-after' } });
    const record = keyless();
    const first = await attempt([record], { job: retry });
    expect(first).toMatchObject([{ kind: 'unknown', failure: { retryable: false, pending: true } }]);
    const { result, effects } = await sim.during(() =>
      attempt([record], { job: retry, earlier: [[0, failureOf(first)]] }),
    );
    expect(result).toMatchObject([{ kind: 'applied' }]);
    expect(creates(effects)).toBe(1);
  });

  test('while the provider cannot be asked the outcome is pending, and the next attempt asks before it sends', async () => {
    const [record, acceptedAt] = [fresh(), Date.now()];
    await sim.fault({ path: '.', times: 1, fault: { kind: 'reset-after' } });
    await sim.fault({ path: '.', times: 50, fault: { kind: 'status', status: 503 } });
    const first = await attempt([record], { context: { tries: 2 }, acceptedAt });
    expect(first).toMatchObject([{ kind: 'unknown', failure: { pending: true, retryable: false } }]);
    await sim.control('DELETE', '/faults');
    const again = () => attempt([record], { earlier: [[0, pending]], acceptedAt });
    const { result, effects } = await sim.during(again);
    expect(result).toMatchObject([{ kind: 'applied', lookedUpBy: at.key }]);
    expect(effects).toEqual([]);
  });

  test('a lost create that is not there is sent by the attempt that found it out', async () => {
    const { result, effects } = await sim.during(() => attempt([fresh()], { earlier: [[0, pending]] }));
    expect(result).toMatchObject([{ kind: 'applied' }]);
    expect(creates(effects)).toBe(1);
  });

  test('a create that was done late, after it was looked for, is not refused as its own duplicate', async () => {
    const acceptedAt = Date.now();
    const record = fresh();
    const [done] = await attempt([record]);
    const failure: Failure = {
      category: 'providerDown',
      retryable: true,
      message: 'not there',
      lookedUpBy: at.key,
    };
    const late = await attempt([record], { earlier: [[0, failure]], acceptedAt });
    expect(late).toMatchObject([{ kind: 'applied', recordId: (done as { recordId: string }).recordId }]);
    const other = await attempt([{ ...record, fields: { ...record.fields, ...fresh('Eve').fields } }], {
      acceptedAt,
    });
    expect(other).toMatchObject([{ kind: 'applied' }]);
    expect(await attempt([record])).toMatchObject([
      { kind: 'notApplied', failure: { category: 'conflict' } },
    ]);
  });

  test('patience ends', async () => {
    await sim.fault({ method: 'POST', path: at.writePath, fault: { kind: 'reset-before' } });
    const startedAt = performance.now();
    const connector = { ...sim.connector, resolve: { ...sim.connector.resolve!, settleMs: 3_000 } };
    const result = await attempt([fresh()], { context: { patienceMs: 300, connector } });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(result).toMatchObject([{ kind: 'unknown', failure: { pending: true } }]);
  });

  test('a stopped node’s creates are looked for and never sent from there', async () => {
    const acceptedAt = Date.now();
    const records = [fresh(), fresh()];
    const [done] = await attempt([records[0]!]);
    const { result, effects } = await sim.during(() =>
      resolveStopped(job(), { acceptedAt, records, earlier: new Map() }, sim.context(at.object)),
    );
    expect(effects).toEqual([]);
    expect(result).toMatchObject([
      { kind: 'applied', recordId: (done as { recordId: string }).recordId },
      { kind: 'unknown', failure: { retryable: false, pending: true, lookedUpBy: at.key } },
    ]);
  });

  test('a record that another operation made is not that of a stopped node', async () => {
    const acceptedAt = Date.now();
    const record = fresh();
    const [made] = await attempt([record]);
    const { recordId } = made as { recordId: string };
    const [result] = await resolveStopped(
      job({ mode: 'synchronous' }),
      { acceptedAt, records: [record], earlier: new Map() },
      { ...sim.context(at.object), madeElsewhere: async (ids) => ids.filter((id) => id === recordId) },
    );
    expect(result).toMatchObject({
      kind: 'notApplied',
      failure: { message: expect.stringContaining('another write made it') as string },
    });
  });

  test('what the ledger cannot tell of a stopped node’s create now is looked for later', async () => {
    const acceptedAt = Date.now();
    const record = fresh();
    await attempt([record]);
    const [result] = await resolveStopped(
      job({ mode: 'synchronous' }),
      { acceptedAt, records: [record], earlier: new Map() },
      { ...sim.context(at.object), madeElsewhere: () => Promise.reject(new Error('refused')) },
    );
    expect(result).toMatchObject({ kind: 'unknown', failure: { pending: true } });
  });

  test('without working credentials only what an earlier attempt left open waits', () => {
    const records = [fresh(), fresh()];
    const earlier = new Map<number, Failure>([
      [0, { category: 'unknownOutcome', retryable: false, message: 'lost' }],
    ]);
    const bad: Failure = { category: 'auth', retryable: false, message: 'revoked' };
    const refused = { kind: 'notApplied', failure: bad };
    expect(unsentForAll(job(), { records, earlier }, bad)).toEqual([
      {
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: false,
          message: 'lost; the record could not be looked for: revoked',
          pending: true,
        },
      },
      refused,
    ]);
    const gone = { kind: 'notApplied', failure: { ...bad, gone: true } };
    expect(unsentForAll(job(), { records, earlier }, { ...bad, gone: true })).toEqual([gone, gone]);
  });

  test('a stopped node’s updates and deletes may be repeated', async () => {
    for (const kind of ['update', 'delete'] as const) {
      const records = [{ id: '1', fields: {} }];
      const { result, requests } = await sim.during(() =>
        resolveStopped(
          job({ kind }),
          { acceptedAt: Date.now(), records, earlier: new Map() },
          sim.context(at.object),
        ),
      );
      expect(result).toMatchObject([{ kind: 'unknown', failure: { retryable: true } }]);
      expect(requests).toEqual([]);
    }
  });

  test('what a stopped node’s upsert did stays open while it cannot be sent again, and ends where the record is refused', async () => {
    const upserted: Partial<AttemptJob> = { kind: 'upsert', mode: 'synchronous', upsertBy: at.key };
    const again = ({ fields }: PlannedRecord, more: Parameters<Simulated['context']>[1] = {}) => {
      const records = [{ key: String(fields[at.key]), fields }];
      const given = { acceptedAt: Date.now(), records, earlier: new Map<number, Failure>() };
      return resolveStopped(job(upserted), given, sim.context(at.object, more));
    };
    const open = { kind: 'unknown', failure: { category: 'unknownOutcome' } };
    expect(await again(fresh(), { mayStillSend: () => false })).toMatchObject([open]);
    await sim.fault({ path: 'upsert|composite|External_Id__c', fault: { kind: 'status', ...at.tooMany } });
    expect(await again(fresh())).toMatchObject([open]);
    expect(await again(at.bad('refused'))).toMatchObject([
      { ...open, failure: { ...open.failure, refused: true } },
    ]);
    expect(await again(fresh())).toMatchObject([{ kind: 'applied' }]);
  });

  test('an update and a delete whose answer was lost are repeated, and a delete that is gone is done', async () => {
    const [created] = await attempt([fresh()]);
    const id = (created as { recordId: string }).recordId;
    const update = { id, fields: { [at.provider === 'hubspot' ? 'firstname' : 'LastName']: 'Grace' } };
    for (const [kind, record] of [
      ['update', update],
      ['delete', { id, fields: {} }],
    ] as const) {
      await sim.fault({ path: id, fault: { kind: 'reset-after' } });
      const [lost] = await attempt([record], { job: { kind } });
      expect(lost).toMatchObject({ kind: 'unknown', failure: { retryable: true } });
      const again = await attempt([record], { job: { kind }, context: { isRepeat: true } });
      expect(again).toMatchObject([{ kind: 'applied', recordId: id }]);
    }
  });
});

describe('src/actions/write/attempt: a value that is meant to be unique, and nothing sees to it', () => {
  let sim: Simulated;
  const objectName = 'UpsertTable__c';
  const job: AttemptJob = {
    kind: 'create',
    mode: 'asynchronous',
    onUnknown: 'retry',
    objectName,
    allOrNone: false,
    headers: [],
  };

  beforeAll(async () => {
    sim = await startSimulated('salesforce', startSalesforce, 400);
  });
  afterAll(() => sim.close());

  test.each([1_200, undefined])(
    'a lost create is sent again only when it can no longer come (after %s ms)',
    async (ms) => {
      const acceptedAt = Date.now();
      const records: PlannedRecord[] = [{ fields: { ExtId__c: `x${ms}`, Name: 'Ada' } }];
      const fault = ms === undefined ? { kind: 'hang' } : { kind: 'late', ms };
      await sim.fault({ method: 'POST', path: `/sobjects/${objectName}`, fault });
      const attempt = (earlier: [number, Failure][]): Promise<RecordOutcome[]> =>
        attemptWrite(job, { acceptedAt, records, earlier: new Map(earlier) }, sim.context(objectName));
      const { effects } = await sim.during(async () => {
        const first = await attempt([]);
        expect(first).toMatchObject([
          { kind: 'unknown', failure: { pending: true, quiet: true, retryAfterMs: 10_050 } },
        ]);
        // An answer that it is not there is not enough as long as the provider may still be at it.
        const { quiet: _quiet, ...early } = failureOf(first);
        expect(await attempt([[0, early]])).toMatchObject([{ kind: 'unknown', failure: { quiet: true } }]);
        await sleep(1_500);
        const last = await attempt([[0, failureOf(first)]]);
        expect(last).toMatchObject([{ kind: 'applied' }]);
        expect('lookedUpBy' in (last[0] as object)).toBe(ms !== undefined);
      });
      expect(effects.filter(({ kind }) => kind === 'create')).toHaveLength(1);
    },
  );
});

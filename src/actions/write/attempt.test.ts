import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { newId } from '../../kit/ids.ts';
import type { Failure, RecordOutcome } from '../../providers/index.ts';
import { attemptWrite, resolveStopped, type AttemptContext, type AttemptJob } from './attempt.ts';
import type { PlannedRecord } from './plan.ts';
import { startSimulated, type Simulated, type StartSimulator } from './simulated.testsuite.ts';

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

interface Case {
  provider: 'hubspot' | 'salesforce';
  start: StartSimulator;
  object: string;
  /** Where creates of the object go, single and in batch. */
  writePath: string;
  batchPath: string;
  key: string;
  /** An object without a unique field. */
  keyless: { object: string; writePath: string; field: string };
  record(key: string, name?: string): PlannedRecord;
  bad(key: string): PlannedRecord;
}

const cases: Case[] = [
  {
    provider: 'hubspot',
    start: startHubspot,
    object: 'contacts',
    writePath: '/objects/contacts',
    batchPath: '/batch/create',
    key: 'email',
    keyless: { object: 'companies', writePath: '/objects/companies', field: 'name' },
    record: (key, name = 'Ada') => ({ fields: { email: `${key}@Example.com`, firstname: name } }),
    bad: (key) => ({ fields: { email: `${key}@example.com`, nosuch: 1 } }),
  },
  {
    provider: 'salesforce',
    start: startSalesforce,
    object: 'Contact',
    writePath: '/sobjects/Contact',
    batchPath: '/composite/sobjects',
    key: 'External_Id__c',
    keyless: { object: 'Task', writePath: '/sobjects/Task', field: 'Subject' },
    record: (key, name = 'Ada') => ({ fields: { External_Id__c: `o'${key}`, LastName: name } }),
    bad: (key) => ({ fields: { External_Id__c: key } }),
  },
];

describe.each(cases)('src/actions/write/attempt: $provider', (at) => {
  let sim: Simulated;
  let count = 0;

  beforeAll(async () => {
    sim = await startSimulated(at.provider, at.start, 400);
  });
  afterEach(async () => {
    await sim.control('DELETE', '/faults');
  });
  afterAll(() => sim.close());

  const fresh = (name?: string): PlannedRecord => at.record(`k${process.pid}-${++count}`, name);
  const job = (more: Partial<AttemptJob> = {}): AttemptJob => ({
    kind: 'create',
    objectName: at.object,
    allOrNone: false,
    headers: [],
    ...more,
  });
  const attempt = (
    records: PlannedRecord[],
    more: {
      job?: Partial<AttemptJob>;
      earlier?: [number, Failure][];
      context?: Partial<AttemptContext>;
      operationId?: string;
    } = {},
  ): Promise<RecordOutcome[]> => {
    const whole = job(more.job);
    return attemptWrite(
      whole,
      { operationId: more.operationId ?? newId(), records, earlier: new Map(more.earlier) },
      sim.context(whole.objectName, more.context),
    );
  };
  const creates = (effects: { kind: string }[]): number =>
    effects.filter(({ kind }) => kind === 'create').length;
  const keyless = (): PlannedRecord => ({ fields: { [at.keyless.field]: `n${++count}` } });
  const pending: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };

  test.each(lostAnswers)('a create that was done is found after %s', async (_what, fault) => {
    await sim.fault({ method: 'POST', path: at.writePath, fault });
    const { result, effects } = await sim.during(() => attempt([fresh()]));
    expect(result).toMatchObject([{ kind: 'applied', recordId: expect.any(String), lookedUpBy: at.key }]);
    expect(effects).toMatchObject([{ kind: 'create', id: (result[0] as { recordId: string }).recordId }]);
  });

  test.each(lostRequests)(
    'a create that never arrived is known not to be done after %s, and may be sent again',
    async (_what, fault) => {
      await sim.fault({ method: 'POST', path: at.writePath, fault });
      const record = fresh();
      const { result, effects } = await sim.during(() => attempt([record]));
      expect(result).toMatchObject([
        { kind: 'notApplied', failure: { category: 'providerDown', retryable: true, lookedUpBy: at.key } },
      ]);
      expect(effects).toEqual([]);
      const [outcome] = result;
      const failure = outcome?.kind === 'notApplied' ? outcome.failure : pending;
      expect(await attempt([record], { earlier: [[0, failure]] })).toMatchObject([{ kind: 'applied' }]);
    },
  );

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
    expect(first).toMatchObject([{ kind: 'unknown', failure: { retryable: true } }]);
    const failure = first[0]?.kind === 'unknown' ? first[0].failure : pending;
    const { result, effects } = await sim.during(() =>
      attempt([record], { job: retry, earlier: [[0, failure]] }),
    );
    expect(result).toMatchObject([{ kind: 'applied' }]);
    expect(creates(effects)).toBe(1);
  });

  test('while the provider cannot be asked the outcome is pending, and the next attempt asks before it sends', async () => {
    const record = fresh();
    await sim.fault({ path: '.', times: 1, fault: { kind: 'reset-after' } });
    await sim.fault({ path: '.', times: 50, fault: { kind: 'status', status: 503 } });
    const first = await attempt([record], { context: { tries: 2 } });
    expect(first).toMatchObject([{ kind: 'unknown', failure: { pending: true, retryable: false } }]);
    await sim.control('DELETE', '/faults');
    const { result, effects } = await sim.during(() => attempt([record], { earlier: [[0, pending]] }));
    expect(result).toMatchObject([{ kind: 'applied', lookedUpBy: at.key }]);
    expect(effects).toEqual([]);
  });

  test('a lost create that is not there is sent by the attempt that found it out', async () => {
    const { result, effects } = await sim.during(() => attempt([fresh()], { earlier: [[0, pending]] }));
    expect(result).toMatchObject([{ kind: 'applied' }]);
    expect(creates(effects)).toBe(1);
  });

  test('a create that was done late, after it was looked for, is not refused as its own duplicate', async () => {
    const operationId = newId();
    const record = fresh();
    const [done] = await attempt([record]);
    const failure: Failure = {
      category: 'providerDown',
      retryable: true,
      message: 'not there',
      lookedUpBy: at.key,
    };
    const late = await attempt([record], { earlier: [[0, failure]], operationId });
    expect(late).toMatchObject([{ kind: 'applied', recordId: (done as { recordId: string }).recordId }]);
    const other = await attempt([{ ...record, fields: { ...record.fields, ...fresh('Eve').fields } }], {
      operationId,
    });
    expect(other).toMatchObject([{ kind: 'applied' }]);
    expect(await attempt([record])).toMatchObject([
      { kind: 'notApplied', failure: { category: 'conflict' } },
    ]);
  });

  test('of a lost batch each record is settled: done, refused, in conflict, without a key', async () => {
    const old = fresh();
    await attempt([old]);
    await sim.control('POST', '/clock', { advanceMs: 60_000 });
    const done = [fresh(), fresh()];
    const noKey: PlannedRecord = { fields: { LastName: 'Nobody', firstname: 'Nobody' } };
    if (at.provider === 'hubspot') delete noKey.fields['LastName'];
    else delete noKey.fields['firstname'];
    const records = [done[0], at.bad(`b${++count}`), old, noKey, done[1]] as PlannedRecord[];
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt(records));
    expect(result.map(({ kind }) => kind)).toEqual([
      'applied',
      'notApplied',
      'notApplied',
      'unknown',
      'applied',
    ]);
    expect(result[1]).toMatchObject({ failure: { category: 'providerDown', retryable: true } });
    expect(result[2]).toMatchObject({ failure: { category: 'conflict' } });
    expect(creates(effects)).toBe(3);
    const ids = effects.filter(({ kind }) => kind === 'create').map(({ id }) => id);
    expect(ids).toContain((result[0] as { recordId: string }).recordId);
    expect(ids).toContain((result[4] as { recordId: string }).recordId);
  });

  test('one record that stands there is not taken for two', async () => {
    const record = fresh();
    await sim.fault({ method: 'POST', path: at.batchPath, fault: { kind: 'reset-after' } });
    const { result, effects } = await sim.during(() => attempt([record, { ...record }]));
    expect(result.map(({ kind }) => kind).sort()).toEqual(['applied', 'notApplied']);
    expect(creates(effects)).toBe(1);
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
    const operationId = newId();
    const records = [fresh(), fresh()];
    const [done] = await attempt([records[0]!]);
    const { result, effects } = await sim.during(() =>
      resolveStopped(job(), { operationId, records }, sim.context(at.object)),
    );
    expect(effects).toEqual([]);
    expect(result).toMatchObject([
      { kind: 'applied', recordId: (done as { recordId: string }).recordId },
      { kind: 'notApplied', failure: { category: 'providerDown', retryable: true } },
    ]);
  });

  test('a stopped node’s updates and deletes may be repeated', async () => {
    for (const kind of ['update', 'delete'] as const) {
      const records = [{ id: '1', fields: {} }];
      const { result, requests } = await sim.during(() =>
        resolveStopped(job({ kind }), { operationId: newId(), records }, sim.context(at.object)),
      );
      expect(result).toMatchObject([{ kind: 'unknown', failure: { retryable: true } }]);
      expect(requests).toEqual([]);
    }
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

  test('a batch that is refused as a whole for one record is divided until the culprit stands alone', async () => {
    const records = Array.from({ length: 20 }, (_, n) => fresh(n === 13 ? 'Poison' : `P${n}`));
    const refusal =
      at.provider === 'hubspot'
        ? { status: 'error', category: 'VALIDATION_ERROR', message: 'one of them is bad' }
        : [{ errorCode: 'JSON_PARSER_ERROR', message: 'one of them is bad' }];
    await sim.fault({
      contains: 'Poison',
      times: 100,
      fault: { kind: 'status', status: 400, body: refusal },
    });
    const { result, requests, effects } = await sim.during(() => attempt(records));
    expect(requests.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(20)));
    expect(creates(effects)).toBe(19);
    result.forEach((outcome, n) =>
      expect(outcome).toMatchObject(
        n === 13
          ? { kind: 'notApplied', failure: { category: 'validation', retryable: false } }
          : { kind: 'applied' },
      ),
    );
  });
});

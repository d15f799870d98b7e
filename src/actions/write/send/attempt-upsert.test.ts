import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startSalesforce } from '../../../../simulator/salesforce/index.ts';
import { unknownOutcome, type Failure, type RecordOutcome } from '../../../providers/index.ts';
import type { AttemptJob } from './attempt.ts';
import { afterLoss, attemptUpsert, refusalsAmong, repeatStopped, stillKnown } from './attempt-upsert.ts';
import { creates } from './attempt-cases.fixture.ts';
import { startSimulated, type Simulated } from './simulated.fixture.ts';

const lost: RecordOutcome = { kind: 'unknown', failure: unknownOutcome('lost', true) };
const undone = (failure: Partial<Failure>): RecordOutcome => ({
  kind: 'notApplied',
  failure: { category: 'validation', retryable: false, message: 'no', ...failure },
});

describe('src/actions/write/attempt-upsert', () => {
  test.each([
    { what: 'a rule', category: 'validation', refused: true },
    { what: 'another record', category: 'conflict', refused: true },
    { what: 'what is not there', category: 'notFound', refused: true },
    { what: 'its rights', category: 'permission', refused: undefined },
    { what: 'a lock', category: 'conflict', retryable: true, refused: undefined },
    { what: 'the limit', category: 'rateLimit', retryable: true, refused: undefined },
  ] as const)(
    'a repetition that is not done for $what leaves the outcome of a lost call unknown, for good: $refused',
    ({ what: _what, refused, ...failure }) => {
      const again = undone(failure);
      const isRefused = refusalsAmong([again], false);
      const known = [afterLoss(again, isRefused), stillKnown(lost, again, isRefused)];
      for (const one of known) {
        expect(one).toMatchObject({ kind: 'unknown', failure: { category: 'unknownOutcome' } });
        expect((one as { failure: Failure }).failure.refused).toBe(refused);
      }
      expect(stillKnown(undone({ clashed: true }), again, isRefused)).toBe(again);
    },
  );

  describe('a rule that holds for changes only', () => {
    let sim: Simulated;
    let count = 0;
    const objectName = 'Contact';

    beforeAll(async () => {
      sim = await startSimulated('salesforce', startSalesforce, 400);
    });
    afterEach(async () => {
      await sim.control('DELETE', '/faults');
    });
    afterAll(() => sim.close());

    const job: AttemptJob = {
      kind: 'upsert',
      upsertBy: 'External_Id__c',
      mode: 'synchronous',
      objectName,
      allOrNone: false,
      headers: [],
    };
    const fresh = () => {
      const key = `changes-${++count}`;
      return { key, fields: { External_Id__c: key, LastName: 'Ada' } };
    };
    const refuseChange = (): Promise<void> => {
      const body = [{ errorCode: 'FIELD_CUSTOM_VALIDATION_EXCEPTION', message: 'not to be changed' }];
      return sim.fault({ method: 'PATCH', path: objectName, fault: { kind: 'status', status: 400, body } });
    };
    const ended = {
      kind: 'unknown',
      failure: {
        category: 'unknownOutcome',
        retryable: false,
        refused: true,
        message: expect.stringContaining('not to be changed') as string,
      },
    };

    test('does not make a call that created the record a failure while its caller waits', async () => {
      await sim.fault({ method: 'PATCH', path: objectName, fault: { kind: 'reset-after' } });
      await refuseChange();
      const { result, requests, effects } = await sim.during(() =>
        attemptUpsert(
          job,
          { records: [fresh()], earlier: new Map() },
          sim.context(objectName, { patienceMs: 5_000 }),
        ),
      );
      expect(result).toMatchObject([ended]);
      expect(creates(effects)).toBe(1);
      // The refusal is not asked for a second time.
      expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
    });

    test('nor when its node died', async () => {
      const record = fresh();
      const given = { records: [record], earlier: new Map<number, Failure>() };
      expect(await attemptUpsert(job, given, sim.context(objectName))).toMatchObject([{ created: true }]);
      await refuseChange();
      expect(await repeatStopped(job, given, lost, sim.context(objectName))).toMatchObject([ended]);
    });
  });
});

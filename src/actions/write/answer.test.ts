import { describe, expect, it } from 'vitest';
import type { FailureCategory, RecordOutcome } from '../../providers/index.ts';
import { problem, renderProblem } from '../../kit/problem.ts';
import { answerWrite } from './answer.ts';
import type { WritePlan } from './prepare/plan.ts';

const id = '01890000-0000-7000-8000-000000000001';

function plan(given: Partial<WritePlan> = {}): WritePlan {
  return {
    kind: 'create',
    mode: 'synchronous',
    form: 'single',
    objectName: 'contacts',
    records: [{ fields: { email: 'a@b.co' } }],
    allOrNone: false,
    partialOnly: false,
    headers: [],
    deadlineSeconds: 3600,
    ...given,
  };
}

const batch = (given: Partial<WritePlan> = {}) =>
  plan({ form: 'batch', records: [{ fields: {}, reference: 'a' }, { fields: {} }], ...given });
const applied = (recordId: string): RecordOutcome => ({ kind: 'applied', recordId, data: { id: recordId } });
const refused = (category: FailureCategory = 'validation'): RecordOutcome => ({
  kind: 'notApplied',
  failure: {
    category,
    retryable: false,
    message: 'email is taken',
    provider: { status: 400, message: 'EMAIL_TAKEN' },
  },
});

function problemOf(answer: ReturnType<typeof answerWrite>): unknown {
  return 'problem' in answer
    ? [answer.problem.status, answer.problem.code, answer.problem.details.extra]
    : answer;
}

function renderedBy(answer: ReturnType<typeof answerWrite>): Record<string, unknown> {
  return 'problem' in answer ? renderProblem(answer.problem, 'request') : answer.body;
}

describe('src/actions/write/answer', () => {
  it('§4.2 a single write that was done answers the record', () => {
    expect(answerWrite(plan(), id, [applied('7')])).toEqual({
      status: 200,
      body: { operationId: id, result: { success: true, recordId: '7', data: { id: '7' } } },
    });
  });

  it('an address that was refused here is no refusal of the provider', () => {
    const [outcome] = [refused('permission')] as [
      { kind: 'notApplied'; failure: { category: 'permission' } },
    ];
    const failure = { ...refused('permission'), failure: { ...outcome.failure, refusedHere: true as const } };
    expect(problemOf(answerWrite(plan(), id, [failure as RecordOutcome]))).toEqual([
      502,
      'egress-refused',
      { operationId: id, category: 'permission' },
    ]);
  });

  it('§4.2 a delete that was done answers the id alone', () => {
    expect(answerWrite(plan({ kind: 'delete' }), id, [{ kind: 'applied', recordId: '7' }])).toEqual({
      status: 200,
      body: { operationId: id, result: { success: true, recordId: '7' } },
    });
  });

  it('§7.1 a single write that the provider refused answers 422 with the reason', () => {
    expect(answerWrite(plan(), id, [refused()])).toEqual({
      status: 422,
      body: {
        operationId: id,
        result: { success: false },
        errors: [
          {
            message: 'error writing contacts: validation: email is taken',
            category: 'validation',
            retryable: false,
            provider: { status: 400, message: 'EMAIL_TAKEN' },
          },
        ],
        rawResponse: 'EMAIL_TAKEN',
      },
    });
  });

  it.each<[FailureCategory, number, string]>([
    ['rateLimit', 429, 'provider-rate-limited'],
    ['providerDown', 502, 'provider-unreachable'],
    ['unknownOutcome', 502, 'outcome-unknown'],
    ['internal', 500, 'internal'],
  ])('§7.1 a failure of category %s is a problem with the operation', (category, status, code) => {
    const expected = [status, code, { operationId: id, category }];
    expect(problemOf(answerWrite(plan(), id, [refused(category)]))).toEqual(expected);
    expect(problemOf(answerWrite(batch(), id, [refused(category), refused(category)]))).toEqual(expected);
  });

  it.each(['rateLimit', 'providerDown'] as const)(
    'says of a failure of category %s, which has an operation, how its key is used again',
    (category) => {
      const failure = { category, retryable: true, message: 'm' };
      expect(renderedBy(answerWrite(plan(), id, [{ kind: 'notApplied', failure }]))).toMatchObject({
        remedy: expect.stringContaining('Retry-Failed: true') as string,
      });
    },
  );

  it.each(['update', 'delete', 'create', 'upsert'] as const)(
    'says of an unknown outcome how its key is used again where that writes it again: %s',
    (kind) => {
      const retryable = kind !== 'create';
      const failure = { category: 'unknownOutcome', retryable, message: 'm' } as const;
      for (const late of [{}, { timedOut: true as const }]) {
        const lost: RecordOutcome = { kind: 'unknown', failure: { ...failure, ...late } };
        for (const answer of [
          answerWrite(plan({ kind }), id, [lost]),
          answerWrite(batch({ kind }), id, [lost, lost]),
        ]) {
          const { remedy } = renderedBy(answer);
          const isRepeated = kind === 'update' || kind === 'delete';
          expect(remedy).toMatch(
            isRepeated
              ? /again, with `Retry-Failed: true` where it has/
              : /again later with the same `Idempotency-Key`.*it is not done twice.*:resolve/,
          );
        }
      }
    },
  );

  it.each(['provider-rate-limited', 'provider-unreachable'] as const)(
    'says nothing of a key where %s has no operation',
    (code) => {
      expect(renderProblem(problem(code, { detail: 'm' }), 'r')['remedy']).not.toMatch(/key|Retry-Failed/i);
    },
  );

  it('says what helps where the provider did not take the credentials, in a batch once', () => {
    const told = [{ message: expect.stringContaining('has to connect again') as string }];
    expect(answerWrite(plan(), id, [refused('auth')])).toMatchObject({
      status: 422,
      body: { warnings: told },
    });
    const both = answerWrite(batch(), id, [refused('auth'), refused('auth')]);
    expect(renderedBy(both)['warnings']).toEqual(told);
    expect(renderedBy(answerWrite(plan(), id, [refused()]))).not.toHaveProperty('warnings');
  });

  it('says retryable as the failure does, whatever the code; a create of unknown outcome never is', () => {
    const lost = (retryable: boolean, timedOut: boolean): RecordOutcome => ({
      kind: 'unknown',
      failure: {
        category: 'unknownOutcome',
        message: 'lost',
        retryable,
        retryAfterMs: 1_000,
        ...(timedOut ? { timedOut } : {}),
      },
    });
    for (const retryable of [true, false]) {
      for (const timedOut of [true, false]) {
        const answer = answerWrite(plan({ kind: 'update' }), id, [lost(retryable, timedOut)]);
        expect(renderedBy(answer)).toMatchObject({ retryable });
        expect('retryAfter' in renderedBy(answer)).toBe(retryable);
      }
    }
    const mixed = answerWrite(batch(), id, [lost(true, false), lost(false, true)]);
    expect(renderedBy(mixed)).toMatchObject({ code: 'outcome-unknown', retryable: false });
    expect(renderedBy(answerWrite(plan(), id, []))).toMatchObject({
      code: 'outcome-unknown',
      retryable: false,
    });
  });

  it('§4.2.2 a batch with one record done is a partial success, in the order of the request', () => {
    const answer = answerWrite(batch(), id, [refused(), applied('8')]);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        operationId: id,
        successCount: 1,
        failureCount: 1,
        results: [
          { success: false, reference: 'a', errors: [{ category: 'validation' }] },
          { success: true, recordId: '8' },
        ],
        errors: [{ category: 'validation' }],
      },
    });
  });

  it('§4.2.2 a batch of which nothing was done answers 422 with the same body', () => {
    expect(answerWrite(batch(), id, [refused(), refused('conflict')])).toMatchObject({
      status: 422,
      body: {
        successCount: 0,
        failureCount: 2,
        results: [{ success: false }, { success: false }],
        errors: [{ category: 'validation' }, { category: 'conflict' }],
      },
    });
  });

  it('§4.2.2 allOrNone where the provider always gives partial success is answered with a warning', () => {
    const warned = answerWrite(batch({ kind: 'update', allOrNone: true, partialOnly: true }), id, [
      applied('1'),
      refused(),
    ]);
    expect(warned).toMatchObject({
      status: 200,
      body: { warnings: [{ message: expect.stringContaining('partial success') }] },
    });
    const quiet = answerWrite(batch({ allOrNone: true }), id, [applied('1'), applied('2')]);
    expect(quiet).not.toHaveProperty('body.warnings');
  });
});

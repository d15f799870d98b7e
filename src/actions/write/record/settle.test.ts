import { describe, expect, test } from 'vitest';
import type { Failure, RecordOutcome } from '../../../providers/index.ts';
import { outcomesTold, settle, settleSynchronous } from './settle.ts';
import type { WorkItem } from '../../../operations/index.ts';

const policy = { baseMs: 1_000, capMs: 60_000, random: () => 0.5 };
const lost: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };
const refused: Failure = { category: 'validation', retryable: false, message: 'bad' };

function item(more: Partial<WorkItem> = {}): WorkItem {
  return {
    kind: 'write',
    ref: 'o',
    isOfNode: false,
    projectId: 'p',
    operationId: 'o',
    integrationId: 'i',
    installationId: 'n',
    configId: 'c',
    laneId: 'l',
    actionType: 'write',
    resource: 'contacts',
    request: { type: 'create' },
    records: [{ index: 0, payload: {} }],
    attempt: 2,
    acceptedAt: 0,
    remainingMs: 60_000,
    total: 1,
    tally: { succeeded: 0, failed: 0, unknown: 0, errors: [] },
    earlier: new Map(),
    sinceEarlierMs: 0,
    seq: '1',
    lease: 'f',
    mark: null,
    expired: false,
    unreadBytes: 0,
    ...more,
  };
}
const settled = (outcome: RecordOutcome, more: Partial<WorkItem> = {}) =>
  settle(item(more), { kind: 'outcomes', outcomes: [outcome] }, policy);

describe('src/operations/settle', () => {
  test('an unknown outcome that is pending has another attempt, within the deadline', () => {
    expect(settled({ kind: 'unknown', failure: lost })).toMatchObject({ done: false, spent: true });
    expect(settled({ kind: 'unknown', failure: lost }, { remainingMs: 10 })).toMatchObject({
      done: true,
      status: 'failure',
      unknown: 1,
    });
  });

  test('a refusal does not make known what an attempt before lost, unless the record was looked up', () => {
    const earlier = new Map([[0, lost]]);
    expect(settled({ kind: 'notApplied', failure: refused }, { earlier })).toMatchObject({
      unknown: 1,
      failed: 0,
    });
    const lookedUp = { ...refused, lookedUpBy: 'email' };
    expect(settled({ kind: 'notApplied', failure: lookedUp }, { earlier })).toMatchObject({
      unknown: 0,
      failed: 1,
      log: { message: { details: { lookedUpBy: 'email', resolved: '1' } } },
    });
  });

  test.each([
    [true, true, 2],
    [false, false, 1],
  ])(
    'of upserts after a lost answer, all or none (%s), a refusal is an end, of all (%s), and says nothing of the call before',
    (allOrNone, done, unknown) => {
      const provider = { id: 'c', provider: 'salesforce' };
      const request = { type: 'upsert', allOrNone, mode: 'synchronous', ...provider };
      const records = [0, 1].map((index) => ({ index, payload: {} }));
      const earlier = new Map([0, 1].map((index) => [index, lost]));
      const outcomes = [refused, { ...refused, category: 'permission' as const }].map(
        (failure): RecordOutcome => ({ kind: 'notApplied', failure }),
      );
      const one = item({ request, records, earlier, total: 2 });
      const settlement = settle(one, { kind: 'outcomes', outcomes }, policy);
      expect(settlement).toMatchObject({ done, unknown, failed: 0 });
      expect(settlement.outcomes[0]?.outcome).toMatchObject({
        kind: 'unknown',
        failure: { category: 'unknownOutcome', retryable: false, refused: true },
      });
    },
  );

  test('a record that was found keeps by what', () => {
    const found = settled({ kind: 'applied', recordId: '7', lookedUpBy: 'email', data: { id: '7' } });
    expect(found.outcomes).toEqual([
      { index: 0, outcome: { kind: 'applied', recordId: '7', lookedUpBy: 'email' } },
    ]);
  });

  test('a rescued synchronous write is looked for again while that is pending, and never sent', () => {
    const rescued = (outcome: RecordOutcome, more: Partial<WorkItem> = {}) =>
      settleSynchronous(item(more), { kind: 'outcomes', outcomes: [outcome] }, policy);
    expect(rescued({ kind: 'unknown', failure: lost })).toMatchObject({ done: false });
    expect(rescued({ kind: 'unknown', failure: lost }, { remainingMs: 10 })).toMatchObject({ done: true });
    const retryable = { ...refused, retryable: true };
    for (const kind of ['unknown', 'notApplied'] as const)
      expect(rescued({ kind, failure: retryable })).toMatchObject({ done: true });
  });

  test('of an upsert after a lost answer, that its installation or connection was removed is the end', () => {
    const gone: Failure = { category: 'permission', retryable: false, message: 'removed', gone: true };
    const earlier = new Map([[0, { ...lost, retryable: true }]]);
    const request = { type: 'upsert' };
    const ended = settled({ kind: 'notApplied', failure: gone }, { earlier, request });
    expect(ended).toMatchObject({ done: true, status: 'failure', unknown: 1 });
    expect(ended.errors).toMatchObject([
      { category: 'unknownOutcome', message: expect.stringContaining('removed') },
    ]);
  });

  test('an upsert that is not recorded may be done by another node: its caller is not told that it was not', () => {
    const outcomes: RecordOutcome[] = [
      { kind: 'notApplied', failure: refused },
      { kind: 'applied', recordId: '1' },
    ];
    expect(outcomesTold('upsert', false, outcomes)).toEqual([
      {
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: true,
          message: expect.stringContaining('bad') as string,
        },
      },
      outcomes[1],
    ]);
    expect(outcomesTold('upsert', true, outcomes)).toBe(outcomes);
    expect(outcomesTold('create', false, outcomes)).toBe(outcomes);
  });
});

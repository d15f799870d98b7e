import { describe, expect, test } from 'vitest';
import type {
  Failure,
  RecordOutcome,
  StandingRecord,
  UniqueField,
  WriteKind,
} from '../../../providers/index.ts';
import { unknownForAll, type AttemptJob } from './attempt.ts';
import {
  afterVerdict,
  comparableFields,
  earliestCreation,
  judgeStanding,
  maySendAgain,
  oneFate,
  ownRecord,
  sameIn,
  leftUnknown,
  searchOf,
  stillQuietMs,
  verdictOf,
  type Course,
  type Verdict,
} from './resolve.ts';

const email = { name: 'email', enforced: true };
const external = { name: 'ExtId__c', enforced: false };
const record = { fields: { Email: 'ada@example.com', name: 'Ada' } };
const search = { key: email, value: 'ada@example.com' };
const since = 1_000;
const none = new Set<string>();
const isSame = sameIn(undefined, {});
const found = (records: StandingRecord[], claimed: ReadonlySet<string> = none) => ({
  records,
  since,
  claimed,
  isSame,
});

function standing(more: Partial<StandingRecord> = {}): StandingRecord {
  return { recordId: '7', createdAt: 1_000, fields: { name: 'Ada' }, ...more };
}
const unknown: RecordOutcome & { kind: 'unknown' } = {
  kind: 'unknown',
  failure: { category: 'unknownOutcome', retryable: false, message: 'lost' },
};

describe('src/actions/write/resolve', () => {
  test('a record is looked for by the first unique field that it has a value in, in any spelling', () => {
    expect(searchOf(record, [external, email])).toEqual(search);
    expect(searchOf({ fields: { name: 'Ada' } }, [external, email])).toBeUndefined();
    expect(searchOf({ fields: { email: '  ', ExtId__c: 7 } }, [email, external])).toEqual({
      key: external,
      value: '7',
    });
  });

  test('a record created since, with what was sent, is ours', () => {
    expect(ownRecord(record, search, found([standing()]))).toEqual({
      kind: 'applied',
      recordId: '7',
      data: { id: '7', Email: 'ada@example.com', name: 'Ada' },
      lookedUpBy: 'email',
    });
  });

  test.each([
    ['created before', standing({ createdAt: 999 }), none, 'stood there before'],
    ['that is another record’s', standing(), new Set(['7']), 'another write made it'],
  ])('one %s keeps ours out, where the provider sees to uniqueness', (_what, one, claimed, why) => {
    expect(ownRecord(record, search, found([one], claimed))).toBeUndefined();
    expect(judgeStanding(record, search, found([one], claimed))).toMatchObject({
      kind: 'notApplied',
      failure: {
        category: 'conflict',
        retryable: false,
        message: expect.stringMatching(new RegExp(`^its outcome was unknown, .*${why}`)),
      },
    });
    expect(judgeStanding(record, { ...search, key: external }, found([one], claimed))).toBeUndefined();
  });

  test('one created since with other values may be ours, and is named where it is the only one', () => {
    const [one, two] = ['7', '8'].map((recordId) => standing({ recordId, fields: { name: 'Grace' } }));
    for (const key of [email, external]) {
      const judge = (records: StandingRecord[]) => judgeStanding(record, { ...search, key }, found(records));
      expect(ownRecord(record, { ...search, key }, found([one!]))).toBeUndefined();
      expect(judge([one!])).toEqual({
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: false,
          message: expect.stringMatching(/other values \(name\).*id 7/) as string,
          existingRecordId: '7',
          lookedUpBy: key.name,
        },
      });
      expect(judge([one!, two!])).not.toHaveProperty('failure.existingRecordId');
    }
  });

  test('what was not sent may stand there as the provider’s default', () => {
    const one = standing({ fields: { name: 'Ada', stage: 'lead' } });
    expect(ownRecord(record, search, found([one]))).toMatchObject({ kind: 'applied' });
  });

  test('of several with one external id, ours is the one created since', () => {
    const several = [standing({ recordId: '1', createdAt: 1 }), standing({ recordId: '2' })];
    expect(ownRecord(record, { ...search, key: external }, found(several))).toMatchObject({
      recordId: '2',
    });
  });

  test('masked fields and those that the object does not have are not compared', () => {
    const field = { displayName: '', valueType: 'string' as const };
    const description = {
      name: 'contacts',
      displayName: '',
      fields: {
        email: { ...field, fieldName: 'email' },
        secret: { ...field, fieldName: 'secret', providerType: 'encryptedstring' },
        blob: { ...field, fieldName: 'blob', valueType: 'other' as const },
      },
    };
    const records = [{ fields: { Email: 1, secret: 2 } }, { fields: { blob: 3, nope: 4 } }];
    expect(comparableFields(records, description)).toEqual(['Email']);
    expect(comparableFields(records, undefined)).toEqual([]);
  });

  test('the provider’s clock counts, as far as its Date header tells', () => {
    const at = Date.parse('2026-01-01T00:00:10Z');
    const hourAhead = 'Thu, 01 Jan 2026 01:00:12 GMT';
    expect(earliestCreation(at, at + 2_000, hourAhead, 1)).toBe(Date.parse('2026-01-01T01:00:10Z'));
    expect(earliestCreation(at + 700, at + 2_000, hourAhead, 1_000)).toBe(Date.parse('2026-01-01T01:00:10Z'));
    expect(earliestCreation(at, at, undefined, 1)).toBe(at - 5_000);
  });

  const course: Course = { mode: 'asynchronous', quietMs: 600_000 };
  const synchronous: Course = { ...course, mode: 'synchronous', onUnknown: 'retry' };
  const applied: RecordOutcome = { kind: 'applied', recordId: '7' };
  const absent = (key: UniqueField, over = false, hides = false): Verdict => ({
    absent: { key, value: 'v' },
    over,
    hides,
  });
  const refused: RecordOutcome = {
    kind: 'notApplied',
    failure: { category: 'conflict', retryable: false, message: 'exists' },
  };

  test('a finding settles it; what nobody can tell stays unknown, unless the caller prefers a duplicate', () => {
    expect(afterVerdict(unknown, applied, course)).toBe(applied);
    const ended = afterVerdict(unknown, 'untellable', course);
    expect(ended).toMatchObject({ kind: 'unknown', failure: { retryable: false } });
    expect(ended).not.toHaveProperty('failure.pending');
    const again: Course = { ...course, onUnknown: 'retry' };
    expect(afterVerdict(unknown, 'untellable', again)).toMatchObject({
      kind: 'unknown',
      failure: { retryable: false, pending: true },
    });
    expect(maySendAgain('untellable', again)).toBe(true);
    expect(maySendAgain('untellable', course)).toBe(false);
    expect(maySendAgain('untellable', synchronous)).toBe(false);
    const barred: Verdict = { barred: { category: 'permission', retryable: false, message: 'no scope' } };
    expect(maySendAgain(barred, again)).toBe(true);
    const shut = verdictOf({ category: 'auth', retryable: false, message: 'revoked' });
    expect(maySendAgain(shut, again)).toBe(false);
    const waits = afterVerdict(unknown, shut, course);
    expect(waits).toMatchObject({
      kind: 'unknown',
      failure: { pending: true, message: 'lost; the record could not be looked for: revoked' },
    });
    const before = leftUnknown((waits as Extract<RecordOutcome, { kind: 'unknown' }>).failure);
    expect(before).toEqual(unknown);
    expect(
      verdictOf({ category: 'auth', retryable: false, message: 'no such connection', gone: true }),
    ).toHaveProperty('barred');
    expect(afterVerdict(unknown, barred, course)).toMatchObject({
      failure: { retryable: false, message: expect.stringContaining('could not be looked for: no scope') },
    });
  });

  test('what could not be asked now is pending, and is not sent, whatever the caller prefers', () => {
    const later = afterVerdict(unknown, 'later', { ...course, onUnknown: 'retry' });
    expect(later).toMatchObject({ kind: 'unknown', failure: { retryable: false, pending: true } });
    expect(maySendAgain('later', { ...course, onUnknown: 'retry' })).toBe(false);
  });

  test('what is not there may still come: it waits for the longest request, unless its value is enforced', () => {
    expect(maySendAgain(absent(email), course)).toBe(true);
    expect(maySendAgain(absent(external), course)).toBe(false);
    expect(maySendAgain(absent(external, true), course)).toBe(true);
    expect(maySendAgain(absent(email, true), synchronous)).toBe(false);
    const waits = { kind: 'unknown', failure: { pending: true, quiet: true, retryAfterMs: 600_000 } };
    expect(afterVerdict(unknown, absent(external), course)).toMatchObject(waits);
    expect(afterVerdict(unknown, absent(email), synchronous)).toMatchObject(waits);
    const soon = afterVerdict(unknown, absent(email), course);
    expect(soon).toMatchObject({ kind: 'unknown', failure: { pending: true, lookedUpBy: 'email' } });
    expect(soon).not.toHaveProperty('failure.quiet');
    for (const surely of [absent(external, true), absent(email, true)])
      expect(afterVerdict(unknown, surely, synchronous)).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'providerDown', retryable: true },
      });
  });

  const retry: Course = { ...course, onUnknown: 'retry' };
  test.each([
    { key: email, over: false, by: course, again: true, end: 'sent again' },
    { key: email, over: true, by: course, again: true, end: 'sent again' },
    { key: external, over: false, by: course, again: false, end: 'waits' },
    { key: external, over: true, by: course, again: false, end: 'ends' },
    { key: external, over: false, by: retry, again: false, end: 'waits' },
    { key: external, over: true, by: retry, again: true, end: 'sent again' },
    { key: email, over: false, by: synchronous, again: false, end: 'waits' },
    { key: email, over: true, by: synchronous, again: false, end: 'ends' },
    { key: external, over: true, by: synchronous, again: false, end: 'ends' },
  ])(
    'what a provider may hide is not called absent: $key.name, can come no more $over, $by.mode, $by.onUnknown: $end',
    ({ key, over, by, again, end }) => {
      const verdict = absent(key, over, true);
      expect(maySendAgain(verdict, by)).toBe(again);
      const judged = afterVerdict(unknown, verdict, by);
      const { pending, quiet, message } = (judged as { failure: Failure }).failure;
      expect(judged).toMatchObject({ kind: 'unknown', failure: { retryable: false, lookedUpBy: key.name } });
      expect([pending ?? false, quiet ?? false]).toEqual([end !== 'ends', end === 'waits']);
      expect(message.includes('does not say that there is none')).toBe(end === 'ends');
    },
  );

  test('a refusal for a record that the provider hides may be for our own', () => {
    const named: RecordOutcome = { ...refused, failure: { ...refused.failure, existingRecordId: '9' } };
    for (const over of [false, true])
      expect(afterVerdict(named, absent(email, over, true), course)).toEqual({
        kind: 'unknown',
        failure: {
          category: 'unknownOutcome',
          retryable: false,
          message: expect.stringMatching(/an earlier attempt may have been done, .*: exists$/) as string,
          existingRecordId: '9',
          lookedUpBy: 'email',
        },
      });
  });

  test.each([
    { category: 'conflict', verdict: absent(email), stands: true },
    { category: 'conflict', verdict: absent(email, true, true), stands: false },
    { category: 'conflict', verdict: 'untellable', stands: false },
    { category: 'validation', verdict: absent(email), stands: true },
    { category: 'validation', verdict: absent(email, true, true), stands: true },
    { category: 'validation', verdict: 'untellable', stands: true },
    { category: 'validation', verdict: 'later', stands: false },
    { category: 'validation', verdict: applied, stands: false },
  ] as const)(
    'a refusal ($category) of a create that was sent again stands, or not, by what a look finds: $verdict',
    ({ category, verdict, stands }) => {
      const outcome: RecordOutcome = { ...refused, failure: { ...refused.failure, category } };
      expect(afterVerdict(outcome, verdict, course) === outcome).toBe(stands);
    },
  );

  test.each([
    { verdict: absent(email), stands: true },
    { verdict: absent(email, true, true), stands: false },
    { verdict: 'untellable', stands: false },
    { verdict: { barred: { category: 'permission', retryable: false, message: 'no scope' } }, stands: false },
  ] as const)(
    'one by code of the account, which may see what is hidden, stands only where nothing is: $verdict',
    ({ verdict, stands }) => {
      const failure: Failure = { ...refused.failure, category: 'validation', byAccount: true };
      const outcome: RecordOutcome = { kind: 'notApplied', failure };
      const judged = afterVerdict(outcome, verdict, course);
      expect(judged === outcome).toBe(stands);
      expect(judged.kind).toBe(stands ? 'notApplied' : 'unknown');
    },
  );

  test('what is due before its time waits until the call before can no longer take effect', () => {
    const lost: Failure = { category: 'unknownOutcome', retryable: false, message: 'lost', pending: true };
    const quiet: Failure = { ...lost, quiet: true, retryAfterMs: 600_000 };
    const upsert: Failure = { ...lost, retryable: true, retryAfterMs: 600_000 };
    const rest = (kind: WriteKind, earlier: Failure[], sinceMs: number) =>
      stillQuietMs(kind, earlier, sinceMs, 600_000);
    expect(rest('create', [quiet], 1_000)).toBe(599_000);
    expect(rest('upsert', [lost, upsert], 1_000)).toBe(599_000);
    for (const kind of ['create', 'upsert'] as const) expect(rest(kind, [quiet, upsert], 600_000)).toBe(0);
    // As the former release kept it after a look that could not be made.
    const { retryAfterMs: _wish, ...untold } = quiet;
    expect(rest('create', [lost, untold], 1_000)).toBe(599_000);
    // A look that could not be made begins no other wait.
    const shut = afterVerdict(leftUnknown(quiet), 'later', course);
    expect(shut).toMatchObject({ failure: { pending: true, quiet: true } });
    expect(rest('create', [(shut as { failure: Failure }).failure], 0)).toBe(0);
    // A wish of the provider is for the credentials that it was told.
    expect(rest('upsert', [{ ...upsert, retryAfterMs: 3_600_000 }], 1_000)).toBe(599_000);
    expect(rest('create', [{ ...lost, retryAfterMs: 3_600_000 }], 1_000)).toBe(0);
    const limited: Failure = { ...upsert, category: 'rateLimit' };
    expect([rest('upsert', [limited], 0), rest('update', [upsert], 0)]).toEqual([0, 0]);
  });

  test('a stopped node’s upsert is not sent again at once because nobody could be asked about it', () => {
    const upsert: AttemptJob = {
      kind: 'upsert',
      mode: 'asynchronous',
      objectName: 'UpsertTable__c',
      allOrNone: false,
      headers: [],
    };
    const away: Failure = { category: 'providerDown', retryable: true, message: 'away' };
    const gone = { ...away, retryable: false, message: 'removed', gone: true } as const;
    expect(unknownForAll(upsert, { records: [record], earlier: new Map() }, gone, 600_000)).toMatchObject([
      { kind: 'unknown', failure: { refused: true, message: expect.stringContaining('removed') as string } },
    ]);
    expect(unknownForAll(upsert, { records: [record], earlier: new Map() }, away, 600_000)).toMatchObject([
      { kind: 'unknown', failure: { category: 'unknownOutcome', retryAfterMs: 600_000 } },
    ]);
  });

  test('a create of unknown outcome never says that it may be repeated', () => {
    const verdicts: Verdict[] = ['untellable', 'later', absent(email), absent(external)];
    const careless: RecordOutcome = {
      kind: 'unknown',
      failure: { category: 'unknownOutcome', retryable: true, message: 'lost' },
    };
    for (const verdict of verdicts)
      for (const mode of ['synchronous', 'asynchronous'] as const)
        for (const onUnknown of ['fail', 'retry'] as const)
          expect(afterVerdict(careless, verdict, { mode, onUnknown, quietMs: 1 })).toMatchObject({
            kind: 'unknown',
            failure: { retryable: false },
          });
  });

  test('a refusal gives way only to the finding that the record is ours or may be, or to none', () => {
    expect(afterVerdict(refused, applied, course)).toBe(applied);
    expect(afterVerdict(refused, unknown, course)).toBe(unknown);
    expect(afterVerdict(refused, absent(email), course)).toBe(refused);
    expect(afterVerdict(refused, 'later', course)).toMatchObject({
      kind: 'unknown',
      failure: { pending: true, retryable: false },
    });
  });

  test('all or none: records of one call have one fate, or one is called unknown', () => {
    const kinds = (verdicts: Verdict[]): unknown[] =>
      oneFate(verdicts).map((one) =>
        typeof one === 'string'
          ? one
          : 'kind' in one
            ? one.kind
            : 'barred' in one
              ? 'barred'
              : 'shut' in one
                ? 'shut'
                : `absent by ${one.absent.key.name} ${one.over}`,
      );
    expect(kinds(['untellable', applied, 'later'])).toEqual(['applied', 'applied', 'applied']);
    expect(kinds([applied, absent(email), refused])).toEqual(['applied', 'unknown', 'unknown']);
    expect(kinds([absent(email, true), refused, 'untellable'])).toEqual(Array(3).fill('notApplied'));
    expect(kinds(['untellable', absent(external), absent(email)])).toEqual(
      Array(3).fill('absent by email false'),
    );
    expect(kinds(['later', absent(email), absent(external, true)])).toEqual(
      Array(3).fill('absent by ExtId__c true'),
    );
    const hidden = absent(external, true, true);
    expect(kinds([hidden, absent(email, false, true)])).toEqual(Array(2).fill('absent by email false'));
    expect(kinds([hidden, absent(external, false, true)])).toEqual(Array(2).fill('absent by ExtId__c false'));
    expect(kinds([applied, hidden])).toEqual(['applied', 'applied']);
    expect(kinds(['untellable', 'later'])).toEqual(['later', 'later']);
    expect(kinds(['untellable', 'untellable'])).toEqual(['untellable', 'untellable']);
    const perhaps: RecordOutcome = {
      kind: 'unknown',
      failure: { ...unknown.failure, existingRecordId: '8', lookedUpBy: 'email' },
    };
    expect(kinds([perhaps, absent(external, true), 'untellable'])).toEqual(Array(3).fill('unknown'));
    expect(kinds([perhaps, 'later'])).toEqual(['later', 'later']);
    expect(kinds([perhaps, refused, absent(email)])).toEqual(['unknown', 'notApplied', 'notApplied']);
    expect(oneFate([perhaps, applied])).toMatchObject([{ kind: 'applied', recordId: '8' }, applied]);
  });
});

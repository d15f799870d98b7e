import { describe, expect, test } from 'vitest';
import type { RecordOutcome, StandingRecord } from '../../providers/index.ts';
import {
  afterVerdict,
  comparableFields,
  earliestCreation,
  judgeStanding,
  maySendAgain,
  neverArrived,
  searchOf,
} from './resolve.ts';

const email = { name: 'email', enforced: true };
const external = { name: 'ExtId__c', enforced: false };
const record = { fields: { Email: 'ada@example.com', name: 'Ada' } };
const search = { key: email, value: 'ada@example.com' };
const since = 1_000;
const none = new Set<string>();

function standing(more: Partial<StandingRecord> = {}): StandingRecord {
  return { recordId: '7', createdAt: 1_000, fields: { name: 'Ada' }, ...more };
}
const unknown: RecordOutcome = {
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
    expect(judgeStanding(record, search, [standing()], since, none)).toEqual({
      kind: 'applied',
      recordId: '7',
      data: { id: '7', Email: 'ada@example.com', name: 'Ada' },
      lookedUpBy: 'email',
    });
  });

  test.each([
    ['created before', standing({ createdAt: 999 }), none, 'stood there before'],
    ['with other values', standing({ fields: { name: 'Grace' } }), none, 'other values (name)'],
    ['that is another record’s', standing(), new Set(['7']), 'stood there before'],
  ])('one %s keeps ours out, where the provider sees to uniqueness', (_what, found, claimed, why) => {
    expect(judgeStanding(record, search, [found], since, claimed)).toMatchObject({
      kind: 'notApplied',
      failure: { category: 'conflict', retryable: false, message: expect.stringContaining(why) },
    });
    expect(judgeStanding(record, { ...search, key: external }, [found], since, claimed)).toBeUndefined();
  });

  test('what was not sent may stand there as the provider’s default', () => {
    const found = standing({ fields: { name: 'Ada', stage: 'lead' } });
    expect(judgeStanding(record, search, [found], since, none)).toMatchObject({ kind: 'applied' });
  });

  test('of several with one external id, ours is the one created since', () => {
    const found = [standing({ recordId: '1', createdAt: 1 }), standing({ recordId: '2' })];
    expect(judgeStanding(record, { ...search, key: external }, found, since, none)).toMatchObject({
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

  test('a finding settles it; what nobody can tell stays unknown, unless the caller prefers a duplicate', () => {
    const found: RecordOutcome = { kind: 'applied', recordId: '7' };
    expect(afterVerdict(unknown, found)).toBe(found);
    expect(afterVerdict(unknown, 'untellable')).toMatchObject({
      kind: 'unknown',
      failure: { retryable: false },
    });
    expect(afterVerdict(unknown, 'untellable', 'retry')).toMatchObject({
      kind: 'unknown',
      failure: { retryable: true },
    });
  });

  test('what could not be asked now is pending, and is not sent, whatever the caller prefers', () => {
    const later = afterVerdict(unknown, 'later', 'retry');
    expect(later).toMatchObject({ kind: 'unknown', failure: { retryable: false, pending: true } });
    expect(maySendAgain(later)).toBe(false);
    expect(maySendAgain(neverArrived(search))).toBe(true);
  });

  test('a refusal gives way only to the finding that the record is ours', () => {
    const refused: RecordOutcome = {
      kind: 'notApplied',
      failure: { category: 'conflict', retryable: false, message: 'exists' },
    };
    const found: RecordOutcome = { kind: 'applied', recordId: '7' };
    expect(afterVerdict(refused, found)).toBe(found);
    expect(afterVerdict(refused, neverArrived(search))).toBe(refused);
    expect(afterVerdict(refused, 'later')).toBe(refused);
  });
});

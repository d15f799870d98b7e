import { describe, expect, it } from 'vitest';
import { describeEnd, describeProgress, describeResult } from './sentence.ts';
import type { Tally } from '../../../operations/index.ts';

describe('write/sentence', () => {
  const subject = { resource: 'contacts', request: { type: 'update' }, attempt: 2 };
  const error = { index: 0, category: 'validation', retryable: false, message: 'no such field' } as const;
  const tally = (succeeded: number, failed: number, unknown: number): Tally => ({
    succeeded,
    failed,
    unknown,
    errors: failed + unknown > 0 ? [error] : [],
  });

  it.each([
    [tally(1, 0, 0), '[contacts] 1 record updated.'],
    [tally(2, 1, 0), '[contacts] 2 records updated, 1 failed: validation: no such field'],
    [
      tally(2, 1, 3),
      '[contacts] 2 records updated, 1 failed, 3 of unknown outcome: validation: no such field',
    ],
    [tally(0, 1, 0), '[contacts] validation: no such field'],
    [tally(0, 2, 1), '[contacts] validation: no such field (3 records not written)'],
  ])('%j reads %s', (counts, text) => {
    expect(describeResult(subject, counts)).toBe(text);
  });

  it.each([
    [tally(0, 0, 0), '[contacts] 0 records updated.'],
    [tally(2, 0, 0), '[contacts] 2 records updated.'],
    [tally(2, 1, 3), '[contacts] 2 records updated, 1 failed, 3 of unknown outcome'],
    [tally(0, 2, 1), '[contacts] 2 records failed, 1 of unknown outcome'],
    [tally(0, 0, 1), '[contacts] 1 record of unknown outcome'],
  ])('the log leaves the error of %j to the field beside it: %s', (counts, text) => {
    expect(describeEnd(subject, counts)).toBe(text);
  });

  it('says that another attempt follows', () => {
    expect(describeProgress(subject)).toBe('[contacts] attempt 2 did not succeed, another follows');
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordOutcome } from '../../../providers/index.ts';
import { nextStep } from './next-step.ts';

const applied: RecordOutcome = { kind: 'applied' };
const refused = (retryable: boolean, retryAfterMs?: number): RecordOutcome => ({
  kind: 'notApplied',
  failure: {
    category: 'rateLimit',
    retryable,
    message: 'no',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
});
const unknown = (retryable: boolean): RecordOutcome => ({
  kind: 'unknown',
  failure: { category: 'unknownOutcome', retryable, message: 'lost' },
});
const policy = { baseMs: 1_000, capMs: 60_000, random: () => 0.5 };

describe('write/next-step', () => {
  it('finishes when nothing may be tried again', () => {
    expect(nextStep([applied, refused(false), unknown(false)], 1, 10_000, 0, policy)).toEqual({
      finish: true,
    });
  });

  it('waits twice as long after each attempt, by a part that is drawn', () => {
    expect(nextStep([applied, refused(true)], 1, 1e9, 0, policy)).toEqual({ retryInMs: 1_000 });
    expect(nextStep([refused(true)], 2, 1e9, 0, policy)).toEqual({ retryInMs: 2_000 });
    expect(nextStep([refused(true)], 30, 1e9, 0, policy)).toEqual({ retryInMs: 30_000 });
  });

  it('waits as long as the provider asks for when that is longer', () => {
    expect(nextStep([refused(true, 5_000), refused(true, 9_000)], 1, 1e9, 0, policy)).toEqual({
      retryInMs: 9_000,
    });
    expect(nextStep([refused(true, 10)], 1, 1e9, 0, policy)).toEqual({ retryInMs: 1_000 });
  });

  it('repeats an unknown outcome only where a repetition leaves the same state', () => {
    expect(nextStep([unknown(true)], 1, 1e9, 0, policy)).toEqual({ retryInMs: 1_000 });
    expect(nextStep([unknown(false)], 1, 1e9, 0, policy)).toEqual({ finish: true });
  });

  it('never plans an attempt at or after the deadline', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(172_800_000),
        fc.nat(172_800_000),
        fc.option(fc.nat(172_800_000), { nil: undefined }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, deadline, now, retryAfterMs, drawn) => {
          const step = nextStep([refused(true, retryAfterMs)], attempt, deadline, now, {
            ...policy,
            random: () => drawn,
          });
          if ('finish' in step) return;
          expect(now + step.retryInMs).toBeLessThan(deadline);
          expect(step.retryInMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        },
      ),
    );
  });
});

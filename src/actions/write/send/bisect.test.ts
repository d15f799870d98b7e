import { assert, asyncProperty, integer, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RecordOutcome, WriteCall } from '../../../providers/index.ts';
import { narrowDown, type CallResult } from './bisect.ts';

function batch(size: number, more: Partial<WriteCall> = {}): WriteCall {
  return {
    kind: 'create',
    objectName: 'contacts',
    records: Array.from({ length: size }, (_, n) => ({ fields: { n } })),
    allOrNone: false,
    headers: [],
    ...more,
  };
}

const refusal = { category: 'validation' as const, retryable: false, message: 'bad input' };

/** A provider that refuses a whole call for one bad record, and counts what it stored. */
function provider(bad: ReadonlySet<number>, refuse: Partial<CallResult['outcomes'][number]> = {}) {
  const calls: number[][] = [];
  const stored: number[] = [];
  const send = (call: WriteCall): Promise<CallResult> => {
    const numbers = call.records.map(({ fields }) => Number(fields['n']));
    calls.push(numbers);
    const refused = {
      kind: 'notApplied',
      failure: refusal,
      ...refuse,
    } as RecordOutcome;
    if (numbers.some((n) => bad.has(n)))
      return Promise.resolve({ status: 400, outcomes: numbers.map(() => refused) });
    stored.push(...numbers);
    return Promise.resolve({
      status: 201,
      outcomes: numbers.map((n) => ({ kind: 'applied', recordId: `r${n}` })),
    });
  };
  return { send, calls, stored };
}

describe('src/actions/write/bisect', () => {
  test('one bad record among 100 is found in at most 2·log2 n calls more, and its 99 neighbours are written', async () => {
    await assert(
      asyncProperty(integer({ min: 0, max: 99 }), async (culprit) => {
        const { send, calls, stored } = provider(new Set([culprit]));
        const outcomes = await narrowDown(batch(100), await send(batch(100)), send);
        expect(calls.length - 1).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(100)));
        expect(stored).toHaveLength(99);
        expect(outcomes).toEqual(
          Array.from({ length: 100 }, (_, n) =>
            n === culprit ? { kind: 'notApplied', failure: refusal } : { kind: 'applied', recordId: `r${n}` },
          ),
        );
      }),
      { numRuns: 30 },
    );
  });

  test('nothing is stored twice, nothing that was stored is called refused, and what is undecided may be sent again', async () => {
    const bads = uniqueArray(integer({ min: 0, max: 59 }), { maxLength: 60 });
    await assert(
      asyncProperty(integer({ min: 1, max: 60 }), bads, async (size, bad) => {
        const { send, calls, stored } = provider(new Set(bad));
        const outcomes = await narrowDown(batch(size), await send(batch(size)), send);
        expect(calls.length - 1).toBeLessThanOrEqual(6 * Math.ceil(Math.log2(size)));
        expect(new Set(stored).size).toBe(stored.length);
        outcomes.forEach((outcome, n) => {
          expect(outcome.kind === 'applied').toBe(stored.includes(n));
          const isInnocent = outcome.kind === 'notApplied' && !bad.includes(n);
          expect(isInnocent && !outcome.failure.retryable).toBe(false);
        });
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['a limit', { failure: { category: 'rateLimit' as const, retryable: true, message: '' } }],
    ['rights', { failure: { category: 'permission' as const, retryable: false, message: '' } }],
    ['a lock', { failure: { category: 'conflict' as const, retryable: true, message: '' } }],
    ['an unknown outcome', { kind: 'unknown' as const }],
  ])('a call that failed for %s is not divided', async (_what, refuse) => {
    const { send, calls } = provider(new Set([0]), refuse);
    await narrowDown(batch(8), await send(batch(8)), send);
    expect(calls).toHaveLength(1);
  });

  test('all or none is never divided', async () => {
    const { send, calls } = provider(new Set([0]));
    const outcomes = await narrowDown(
      batch(8, { allOrNone: true }),
      await send(batch(8, { allOrNone: true })),
      send,
    );
    expect(calls).toHaveLength(1);
    expect(outcomes.every(({ kind }) => kind === 'notApplied')).toBe(true);
  });
});

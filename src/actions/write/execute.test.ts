import { describe, expect, test } from 'vitest';
import { array, assert, constantFrom, integer, option, property } from 'fast-check';
import { splitCalls } from './execute.ts';

describe('actions/write/execute', () => {
  test('splits by the provider’s limit, in order', () => {
    expect(splitCalls([0, 1, 2, 3, 4], () => undefined, 2)).toEqual([[0, 1], [2, 3], [4]]);
  });

  test('an id that stands twice goes into a later call', () => {
    const ids = ['a', 'b', 'a', 'c', 'a'];
    expect(splitCalls([0, 1, 2, 3, 4], (slot) => ids[slot], 100)).toEqual([[0, 1, 3], [2], [4]]);
  });

  test('no call holds an id twice, none is over the limit, none is lost, and the order of each id is kept', () => {
    const ids = array(option(constantFrom('a', 'b', 'c'), { nil: undefined }), { maxLength: 60 });
    assert(
      property(ids, integer({ min: 1, max: 7 }), (all, limit) => {
        const calls = splitCalls([...all.keys()], (slot) => all[slot], limit);
        expect(calls.flat().sort((x, y) => x - y)).toEqual([...all.keys()]);
        for (const call of calls) {
          const named = call.map((slot) => all[slot]).filter((id) => id !== undefined);
          expect(new Set(named).size).toBe(named.length);
          expect(call.length).toBeLessThanOrEqual(limit);
        }
        for (const id of ['a', 'b', 'c']) {
          const sequence = calls.flat().filter((slot) => all[slot] === id);
          expect(sequence).toEqual(sequence.toSorted((x, y) => x - y));
        }
      }),
    );
  });
});

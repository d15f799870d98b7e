import { array, assert, boolean, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseOldest, type Given } from './list-oldest.ts';

const idOf = (at: number): string => `00000000-0000-7000-8000-${String(at).padStart(12, '0')}`;
const none: Given = { low: idOf(0), high: idOf(0), last: { id: idOf(0), accepted: 0 } };

/** All pages of what was accepted at these times, by rising id; the filter finds nothing of those without one. */
function pagesOf(times: readonly (number | undefined)[], window: number, size: number): number[][] {
  const all = times.map((accepted, at) => ({ id: idOf(at + 1), accepted }));
  const pages: number[][] = [];
  let given = none;
  for (let isDone = false; !isDone;) {
    const { low } = given;
    const seen = all.filter(({ id }) => id > low).slice(0, window);
    const found = seen.flatMap(({ id, accepted }) => (accepted === undefined ? [] : { id, accepted }));
    const isOver = seen.length < window;
    const looked = seen.map(({ id }) => id);
    const next = chooseOldest(given, { looked, found, isOver }, size);
    pages.push(next.chosen.map((id) => Number(id.slice(-12))));
    isDone = next.isAll && isOver;
    given = next.given;
  }
  return pages;
}

describe('src/operations/list-oldest', () => {
  it('gives out in the order of acceptance across pages, where the ids lie within what is looked at', () => {
    expect(pagesOf([30, 40, 10, 20], 4, 1)).toEqual([[3], [4], [1], [2]]);
    expect(pagesOf([30, undefined, 10, 20], 5, 2)).toEqual([[3, 4], [1]]);
    expect(pagesOf([5, 5, 5], 9, 2)).toEqual([[1, 2], [3]]);
  });

  it('gives out what lies further behind when it is come by', () => {
    expect(pagesOf([50, 60, 70, 80, 10, 20, 30], 4, 1).flat()).toEqual([1, 5, 2, 6, 3, 7, 4]);
    // More of them than a page holds.
    expect(pagesOf([50, 10, 20, 30, 60], 1, 1).flat()).toEqual([1, 2, 3, 4, 5]);
  });

  const cases = record({
    times: array(integer({ min: 1, max: 40 }), { maxLength: 40 }),
    found: array(boolean(), { minLength: 40, maxLength: 40 }),
    window: integer({ min: 1, max: 20 }),
    size: integer({ min: 1, max: 10 }),
  });
  const askedOf = (times: readonly number[], found: readonly boolean[]) =>
    times.map((one, at) => (found[at] ? one : undefined));

  it('gives everything out once, whatever the ids say and however little is looked at', () => {
    assert(
      property(cases, ({ times, found, window, size }) => {
        const pages = pagesOf(askedOf(times, found), window, size);
        expect(pages.every((page) => page.length <= size)).toBe(true);
        const expected = times.flatMap((_, at) => (found[at] ? [at + 1] : []));
        expect(pages.flat().toSorted((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the order of acceptance where no more ids lie between than half of those looked at', () => {
    assert(
      property(cases, ({ times, found, window, size }) => {
        const skewed = times.map((one, at) => at + ((one % 40) / 40) * Math.floor(window / 2));
        const pages = pagesOf(askedOf(skewed, found), window, size);
        const timesOf = pages.flat().map((at) => skewed[at - 1] ?? 0);
        expect(timesOf).toEqual(timesOf.toSorted((a, b) => a - b));
      }),
      { numRuns: 500 },
    );
  });
});

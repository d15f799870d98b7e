import { describe, expect, it } from 'vitest';
import { rangeOf, textsIn } from './search.ts';

describe('overview/search', () => {
  it.each([
    ['01a2045d', '01a2045d-0000-0000-0000-000000000000', '01a2045d-ffff-ffff-ffff-ffffffffffff'],
    ['01A2045D-98', '01a2045d-9800-0000-0000-000000000000', '01a2045d-98ff-ffff-ffff-ffffffffffff'],
    [
      '01a2045d-9870-70ee-9914-79105532e76a',
      '01a2045d-9870-70ee-9914-79105532e76a',
      '01a2045d-9870-70ee-9914-79105532e76a',
    ],
  ])('%s begins ids from %s to %s', (text, from, to) => {
    expect(rangeOf(text)).toEqual({ from, to });
  });

  it('looks for what was typed, and for four ids in it at the most, each once', () => {
    const ids = [1, 2, 3, 4, 5].map((n) => `01a2045d-9870-70ee-9914-79105532e76${n}`);
    const [first = ''] = ids;
    expect(textsIn(` ${first} `)).toEqual([first]);
    expect(textsIn(`"${first}",`)).toEqual([first, `"${first}",`]);
    expect(textsIn(ids.join())).toEqual([...ids.slice(0, 4), ids.join()]);
    expect(textsIn('acme')).toEqual(['acme']);
  });

  it.each(['01a2045', 'acme', '01a2045d-9870-70ee-9914-79105532e76a0', '01a2045g', '%%%%%%%%', '--------'])(
    '%s begins none',
    (text) => {
      expect(rangeOf(text)).toBeNull();
    },
  );
});

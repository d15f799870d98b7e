import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLookup } from './lookup.ts';

describe('src/kit/lookup', () => {
  function counted(known: string[]) {
    const asked: string[][] = [];
    let running = 0;
    let most = 0;
    const lookup = createLookup(async (keys) => {
      asked.push(keys);
      most = Math.max(most, (running += 1));
      await sleep(2);
      running -= 1;
      return new Map(keys.filter((key) => known.includes(key)).map((key) => [key, `value of ${key}`]));
    });
    return { asked, lookup, most: () => most };
  }

  it('asks once for a key that is not there', async () => {
    const { asked, lookup } = counted(['a']);
    for (let time = 0; time < 3; time += 1) expect((await lookup(['b'])).get('b')).toBeUndefined();
    expect(asked).toEqual([['b']]);
    expect((await lookup(['a', 'b'])).get('a')).toBe('value of a');
    expect(asked).toEqual([['b'], ['a']]);
  });

  it('forgets what was not there, also what is being asked', async () => {
    const known = ['a'];
    const { asked, lookup } = counted(known);
    await lookup(['b']);
    const asking = lookup(['c']);
    lookup.forgetAbsent();
    expect((await asking).get('c')).toBeUndefined();
    known.push('b', 'c');
    expect([...(await lookup(['b', 'c'])).keys()]).toEqual(['b', 'c']);
    expect(asked).toHaveLength(3);
  });

  it('asks one query at a time for whatever many want', async () => {
    const { asked, lookup, most } = counted(['k7']);
    const answers = await Promise.all(Array.from({ length: 2_000 }, (_, at) => lookup([`k${at}`])));
    expect(answers[7]?.get('k7')).toBe('value of k7');
    expect(most()).toBe(1);
    expect(asked.length).toBeLessThan(7);
    expect(Math.max(...asked.map((keys) => keys.length))).toBeLessThanOrEqual(500);
  });

  it('forgets the oldest first', async () => {
    const { asked, lookup } = counted([]);
    for (let from = 0; from < 12_000; from += 500)
      await lookup(Array.from({ length: 500 }, (_, at) => `k${from + at}`));
    const before = asked.length;
    await lookup(['k11999']);
    expect(asked).toHaveLength(before);
    await lookup(['k0']);
    expect(asked).toHaveLength(before + 1);
  });

  it('fails for those who asked, and asks again', async () => {
    let isAway = true;
    const lookup = createLookup(async () => {
      if (isAway) throw new Error('away');
      return new Map([['a', 1]]);
    });
    await expect(lookup(['a'])).rejects.toThrow('away');
    isAway = false;
    expect((await lookup(['a'])).get('a')).toBe(1);
  });
});

import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createCache, type Cache, type CacheOptions } from './cache.ts';
import { problem } from './problem.ts';

const open: Cache<string>[] = [];

function cacheOver(rows: Map<string, string>, options: Partial<CacheOptions<string>> = {}) {
  const loads: string[][] = [];
  const state = { away: false, delayMs: 0 };
  const cache = createCache<string>({
    load: async (keys) => {
      loads.push(keys);
      const found = new Map(keys.filter((key) => rows.has(key)).map((key) => [key, rows.get(key) as string]));
      if (state.delayMs > 0) await wait(state.delayMs);
      if (state.away) throw problem('database-unavailable');
      return found;
    },
    ...options,
  });
  open.push(cache);
  return { cache, loads, state };
}

describe('kit/cache', () => {
  afterEach(() => {
    for (const cache of open.splice(0)) cache.close();
  });

  test('reads once for many, and answers from memory afterwards', async () => {
    const { cache, loads } = cacheOver(new Map([['a', '1']]));
    expect(await Promise.all([cache.get('a'), cache.get('a')])).toEqual(['1', '1']);
    expect(cache.peek('a')).toBe('1');
    expect(loads).toEqual([['a']]);
  });

  test('what does not exist is asked for again', async () => {
    const rows = new Map<string, string>();
    const { cache } = cacheOver(rows);
    expect(await cache.get('a')).toBeUndefined();
    rows.set('a', '1');
    expect(await cache.get('a')).toBe('1');
  });

  test('forgets the entries that a rule holds for, and what is being read meanwhile', async () => {
    const rows = new Map([
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'one'],
    ]);
    const { cache, loads, state } = cacheOver(rows);
    await Promise.all(['a', 'b'].map((key) => cache.get(key)));
    state.delayMs = 20;
    const underWay = cache.get('c');
    cache.invalidateWhere((value) => value === 'one');
    expect(await underWay).toBe('one');
    expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([undefined, 'two', undefined]);
    expect(loads).toEqual([['a'], ['b'], ['c']]);
  });

  test('reads the entries in use again within about a second, in one query', async () => {
    const rows = new Map([
      ['a', '1'],
      ['b', '1'],
      ['idle', '1'],
    ]);
    const { cache, loads } = cacheOver(rows);
    await Promise.all(['a', 'b', 'idle'].map((key) => cache.get(key)));
    cache.peek('a');
    cache.peek('b');
    rows.set('a', '2');
    rows.delete('b');
    await wait(1_200);
    expect(cache.peek('a')).toBe('2');
    expect(cache.peek('b')).toBeUndefined();
    expect(loads.at(-1)).toEqual(['a', 'b']);
  });

  test('an entry that aged unused is not answered without asking', async () => {
    const rows = new Map([['a', '1']]);
    const { cache } = cacheOver(rows, { maxAgeMs: 20 });
    await cache.get('a');
    rows.set('a', '2');
    await wait(40);
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a')).toBe('2');
  });

  test('what was read before an invalidation is not stored after it', async () => {
    const rows = new Map([['a', 'old']]);
    const { cache, state } = cacheOver(rows);
    state.delayMs = 30;
    const reading = cache.get('a');
    await wait(5);
    rows.set('a', 'new');
    cache.invalidate('a');
    await reading;
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a')).toBe('new');
  });

  test('serves for a while when the database is away, then says so', async () => {
    const { cache, state } = cacheOver(new Map([['a', '1']]), { maxAgeMs: 1, staleWhileAwayMs: 80 });
    await cache.get('a');
    state.away = true;
    await wait(10);
    expect(await cache.get('a')).toBe('1');
    await wait(100);
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'database-unavailable' });
  });

  test('serves everybody who asks at once when the database is away, until the time is over', async () => {
    const { cache, loads, state } = cacheOver(new Map([['a', '1']]), { maxAgeMs: 1, staleWhileAwayMs: 200 });
    await cache.get('a');
    await wait(10);
    Object.assign(state, { away: true, delayMs: 20 });
    const asked = Array.from({ length: 10 }, () => cache.get('a'));
    expect(await Promise.all(asked)).toEqual(Array(10).fill('1'));
    expect(loads).toHaveLength(2);
    await wait(200);
    const late = await Promise.allSettled(Array.from({ length: 10 }, () => cache.get('a')));
    expect(late.map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  });

  test('nobody waits long for a database that is silent, and what it says in the end counts', async () => {
    const rows = new Map([['a', '1']]);
    const { cache, loads, state } = cacheOver(rows, { maxAgeMs: 50, patienceMs: 30 });
    await cache.get('a');
    await wait(60);
    rows.set('a', '2');
    state.delayMs = 300;
    const startedAt = performance.now();
    expect(await Promise.all(Array.from({ length: 10 }, () => cache.get('a')))).toEqual(Array(10).fill('1'));
    expect(await cache.get('a')).toBe('1');
    expect(performance.now() - startedAt).toBeLessThan(200);
    expect(loads).toHaveLength(2);
    state.delayMs = 0;
    await expect.poll(() => cache.get('a')).toBe('2');
  });

  test('a silent database is waited for where nothing is known', async () => {
    const { cache, state } = cacheOver(new Map([['a', '1']]), { patienceMs: 10 });
    state.delayMs = 50;
    expect(await cache.get('a')).toBe('1');
  });

  test('what expired is asked for again, and serves only with the database away', async () => {
    const rows = new Map([['a', '1']]);
    const { cache, state } = cacheOver(rows);
    await cache.get('a');
    rows.set('a', '2');
    cache.expire('a');
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.get('a')).toBe('2');
    cache.expire('a');
    state.away = true;
    expect(await cache.get('a')).toBe('2');
    cache.invalidate('a');
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'database-unavailable' });
  });

  test('keeps no more entries than allowed', async () => {
    const { cache } = cacheOver(
      new Map([
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ]),
      { maxEntries: 2 },
    );
    for (const key of ['a', 'b', 'c']) await cache.get(key);
    expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([undefined, '2', '3']);
  });
});

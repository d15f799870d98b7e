import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { watchOutage } from './outage.ts';

describe('src/kit/db/outage', () => {
  it('tells the beginning once, and the end by the first answer to what was sent after it', () => {
    const told: string[] = [];
    let now = 0;
    const watch = watchOutage(
      { onAway: (error) => told.push(`away: ${String(error)}`), onBack: (ms) => told.push(`back: ${ms}`) },
      { tryChange: () => Promise.resolve(), clock: () => now },
    );
    const sentBefore = watch.now();
    watch.failed('first', 'silent');
    watch.failed('second', 'silent');
    watch.answered(sentBefore);
    expect(told).toEqual(['away: first']);
    const sentIn = watch.now();
    now = 1_500;
    watch.answered(sentIn);
    watch.answered(sentIn);
    expect(told).toEqual(['away: first', 'back: 1500']);
    watch.failed('third', 'silent');
    watch.answered(sentIn);
    expect(told).toEqual(['away: first', 'back: 1500', 'away: third']);
  });

  it('a refusal of changes ends by a change that passes when none was refused for a while', async () => {
    const told: string[] = [];
    let now = 0;
    let isFull = true;
    const watch = watchOutage(
      {
        onAway: (error, what) => told.push(`${what}: ${String(error)}`),
        onBack: (ms) => told.push(`back: ${ms}`),
      },
      {
        tryChange: async () => void (isFull && (await Promise.reject(new Error('full')))),
        clock: () => now,
        pauseMs: 1,
      },
    );
    watch.failed('gone', 'silent');
    now = 1_000;
    watch.failed('full', 'refusing');
    watch.answered(watch.now());
    watch.failed('gone', 'silent');
    expect(watch.refusal()).toBe('full');
    now = 10_000;
    await sleep(20);
    isFull = false;
    watch.failed('full', 'refusing');
    await sleep(20);
    expect(told).toEqual(['silent: gone', 'back: 1000', 'refusing: full']);
    now = 13_000;
    await expect.poll(() => told.at(-1)).toBe('back: 12000');
    expect(watch.refusal()).toBeUndefined();
  });
});

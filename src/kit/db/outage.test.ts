import { describe, expect, it } from 'vitest';
import { watchOutage } from './outage.ts';

describe('src/kit/db/outage', () => {
  it('tells the beginning once, and the end by the first answer to what was sent after it', () => {
    const told: string[] = [];
    let now = 0;
    const watch = watchOutage(
      { onAway: (error) => told.push(`away: ${String(error)}`), onBack: (ms) => told.push(`back: ${ms}`) },
      () => now,
    );
    const sentBefore = watch.now();
    watch.failed('first');
    watch.failed('second');
    watch.answered(sentBefore);
    expect(told).toEqual(['away: first']);
    const sentIn = watch.now();
    now = 1_500;
    watch.answered(sentIn);
    watch.answered(sentIn);
    expect(told).toEqual(['away: first', 'back: 1500']);
    watch.failed('third');
    watch.answered(sentIn);
    expect(told).toEqual(['away: first', 'back: 1500', 'away: third']);
  });
});

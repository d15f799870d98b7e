import { describe, expect, it } from 'vitest';
import { feedsWith, statusOf } from './status.ts';

const standings = ['removed', 'paused', 'failing', 'running', 'idle'] as const;

describe('actions/read/status', () => {
  it.each(standings)('a read whose feeds stand as %s is found by its status', (standing) => {
    for (const disabled of [true, false])
      expect(feedsWith(statusOf(standing, disabled)).standings).toContain(standing);
  });

  it('a config that switches a read off says more than its runs, and less than who paused it or took it away', () => {
    expect(standings.map((standing) => statusOf(standing, true))).toEqual([
      'removed',
      'paused',
      'disabled',
      'disabled',
      'disabled',
    ]);
    expect(standings.map((standing) => statusOf(standing, false))).toEqual(standings);
  });
});

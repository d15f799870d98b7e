import { describe, expect, it } from 'vitest';
import { begunAhead, readSince, readUntil, windowOf } from './window.ts';

const lagMs = 60_000;
const run = { since: 1_000_000, until: 2_000_000, untilNow: false };

describe('actions/read/window', () => {
  it('looks back before the end of the scheduled run before it, and remembers what the next one finds again', () => {
    expect(windowOf({ ...run, type: 'scheduled' }, lagMs)).toEqual({
      since: 940_000,
      until: 2_000_000,
      repeatedFrom: 1_940_000,
    });
  });

  it('looks back before its own end where the clock went back behind the end of the run before it', () => {
    const window = windowOf({ ...run, type: 'scheduled', since: 3_000_000 }, lagMs);
    expect(window).toEqual({ since: 1_940_000, until: 2_000_000, repeatedFrom: 1_940_000 });
  });

  it('takes the range of a request as it is', () => {
    expect(windowOf({ ...run, type: 'triggered' }, lagMs)).toEqual({ since: 1_000_000, until: 2_000_000 });
    expect(windowOf({ ...run, type: 'triggered', since: null }, lagMs)).toEqual({ until: 2_000_000 });
  });

  it('takes on demand also what changes while it goes on, where no end was given', () => {
    const asked = { ...run, type: 'triggered', untilNow: true } as const;
    const window = windowOf(asked, lagMs);
    expect(window).toEqual({ since: 1_000_000, until: windowOf({ ...run, type: 'backfill' }, lagMs).until });
    expect(windowOf({ ...asked, since: null }, lagMs)).toEqual({ until: window.until });
  });

  it('takes for a backfill also what changes while it goes on', () => {
    const window = windowOf({ ...run, type: 'backfill', since: null }, lagMs);
    expect(window).not.toHaveProperty('since');
    expect(window).not.toHaveProperty('repeatedFrom');
    expect(window.until).toBeGreaterThan(run.until + 24 * 3_600_000);
  });

  it('ends where the provider’s clock stood, where ours is ahead of it', () => {
    const scheduled = { type: 'scheduled', until: 2_000_000_000 } as const;
    expect(readUntil(scheduled, 1_999_700_000)).toBe(1_999_700_999);
    for (const same of [undefined, 1_999_999_001, 2_000_300_000, 1_900_000_000])
      expect(readUntil(scheduled, same)).toBe(2_000_000_000);
    for (const type of ['backfill', 'triggered', 'associations'] as const)
      expect(readUntil({ ...scheduled, type }, 1_999_700_000)).toBe(2_000_000_000);
  });

  it('begins a first run where the provider’s clock stood when its feed began, where ours is ahead of it', () => {
    const first = { since: 2_000_000_000, firstAt: 2_001_000_000 };
    expect(readSince(first, 2_000_700_000)).toBe(1_999_700_999);
    for (const same of [undefined, 2_000_999_001, 2_001_300_000, 1_900_000_000])
      expect(readSince(first, same)).toBe(first.since);
    expect(readSince({ ...first, firstAt: null }, 2_000_700_000)).toBe(first.since);
    expect(readSince({ ...first, since: null }, 2_000_700_000)).toBeNull();
  });

  it('looks for feeds that began while the clock was ahead once it is seen to be set back, and at the first look', () => {
    const byMs = 86_400_000;
    expect(begunAhead(undefined, { now: 1_000_000, at: 5 })).toEqual({ laterThanMs: 0, byMs });
    const seen = { now: 1_000_000, at: 5_000 };
    for (const now of [991_001, 1_001_000, 9_000_000])
      expect(begunAhead(seen, { now, at: 6_000 })).toBeUndefined();
    expect(begunAhead(seen, { now: 990_999, at: 6_000 })).toEqual({ laterThanMs: byMs, byMs });
    // It is later than before, by less than has passed.
    expect(begunAhead(seen, { now: 1_030_000, at: 65_000 })).toEqual({ laterThanMs: byMs, byMs });
  });
});

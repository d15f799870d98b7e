import { afterEach, describe, expect, it, vi } from 'vitest';
import { nextRun } from './schedule.ts';

const at = (text: string): number => Date.parse(text);
const contacts = (schedule: string, installationId = 'one') => ({
  schedule,
  installationId,
  objectName: 'contacts',
});

/** The ticks that a clock meets which jumps to each due time. */
function ticks(schedule: string, from: string, count: number): string[] {
  let now = at(from);
  return Array.from({ length: count }, () => {
    const run = nextRun(contacts(schedule), now)!;
    now = run.dueAt;
    return new Date(run.tickAt).toISOString().slice(0, 16);
  });
}

describe('actions/read/schedule', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])(
    'ticks in UTC where the clock of %s leaves an hour out or has it twice',
    (zone) => {
      vi.stubEnv('TZ', zone);
      for (const from of [
        '2026-03-08T00:00Z',
        '2026-03-29T00:00Z',
        '2026-04-04T12:00Z',
        '2026-10-25T00:00Z',
        '2026-11-01T00:00Z',
      ]) {
        const found = ticks('30 * * * *', from, 24);
        expect(found).toEqual(
          found.map((_tick, hour) =>
            new Date(at(from) + hour * 3_600_000 + 1_800_000).toISOString().slice(0, 16),
          ),
        );
      }
      expect(ticks('30 2 * * *', '2026-03-28T00:00Z', 3)).toEqual([
        '2026-03-28T02:30',
        '2026-03-29T02:30',
        '2026-03-30T02:30',
      ]);
    },
  );

  it('makes one run of all ticks that were missed', () => {
    const run = nextRun(contacts('0 * * * *'), at('2026-05-05T17:20Z'));
    expect(new Date(run!.tickAt).toISOString()).toBe('2026-05-05T18:00:00.000Z');
    expect(ticks('0 0 29 2 *', '2026-05-05T00:00Z', 2)).toEqual(['2028-02-29T00:00', '2032-02-29T00:00']);
  });

  it('takes the tick after a time that is one', () => {
    expect(nextRun(contacts('0 * * * *'), at('2026-05-05T17:00Z'))?.tickAt).toBe(at('2026-05-05T18:00Z'));
    expect(nextRun(contacts('0 * * * *'), at('2026-05-05T17:00Z') - 1)?.tickAt).toBe(at('2026-05-05T17:00Z'));
  });

  it.each([
    ['*/10 * * * *', 60_000],
    ['*/30 * * * *', 180_000],
    ['0 3 * * *', 300_000],
    ['0 9,10 * * 1', 300_000],
  ])('spreads what ticks together by %s over %i ms, each at a time of its own', (schedule, most) => {
    const now = at('2026-05-05T00:00Z');
    const late = Array.from({ length: 6_000 }, (_late, index) => {
      const run = nextRun(contacts(schedule, `installation ${index}`), now)!;
      return run.dueAt - run.tickAt;
    });
    expect(Math.min(...late)).toBeLessThan(most / 20);
    expect(Math.max(...late)).toBeLessThan(most);
    expect(Math.max(...late)).toBeGreaterThan((most * 19) / 20);
    const perTenth = Array.from(
      { length: 10 },
      (_count, tenth) => late.filter((ms) => Math.floor((ms * 10) / most) === tenth).length,
    );
    expect(Math.max(...perTenth)).toBeLessThan(720);
    const again = nextRun(contacts(schedule, 'installation 7'), now + 7 * 86_400_000)!;
    expect(again.dueAt - again.tickAt).toBe(late[7]);
  });
});

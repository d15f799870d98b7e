import { Cron } from 'croner';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readScheduleMinutes, scheduleFault, scheduleGap, watchScheduleMinutes } from './schedule.ts';

describe('src/projects/manifest/schedule', () => {
  it.each([
    '*/10 * * * *',
    '0 * * * *',
    '0,30 9-17 * * MON-FRI',
    '55 23 * * *',
    '0 0 29 2 *',
    '0 */24 * * *',
    '0 0 L * *',
    // Mondays only: the last tick and the first one are six days apart.
    '0,55 0,23 * * 1',
  ])('takes %s', (text) => {
    expect(scheduleFault(text, readScheduleMinutes)).toBeUndefined();
  });

  it.each([
    ['* * * * *', 'fires 1 minute apart'],
    ['*/7 * * * *', 'fires 4 minutes apart'],
    ['0,5 3 * * *', 'fires 5 minutes apart'],
    // From one hour to the next, and over midnight.
    ['0,55 * * * *', 'fires 5 minutes apart'],
    ['3,57 0,23 * * *', 'fires 6 minutes apart'],
    ['3,57 0,23 1,31 * *', 'fires 6 minutes apart'],
    ['0 0 30 2 *', 'never fires'],
    ['0 0 31 4,6 *', 'never fires'],
    ['0 0 * * * *', 'exactly five fields'],
    ['@daily', 'exactly five fields'],
    ['', 'exactly five fields'],
    ['61 * * * *', 'not a valid cron expression'],
    ['every day at noon please', 'not a valid cron expression'],
  ])('refuses %j', (text, reason) => {
    expect(scheduleFault(text, readScheduleMinutes)?.reason).toContain(reason);
  });

  it('wants an hour between two looks at the schema', () => {
    expect(scheduleFault('*/30 * * * *', watchScheduleMinutes)?.reason).toContain('the least is 60 minutes');
    expect(scheduleFault('0 * * * *', watchScheduleMinutes)).toBeUndefined();
  });

  it('finds the gap that stepping through the ticks finds', () => {
    const list = (most: number) =>
      fc
        .uniqueArray(fc.nat({ max: most }), { minLength: 1, maxLength: 4 })
        .map((numbers) => numbers.join(','));
    const days = fc.constantFrom('* * *', '* * 1', '1,31 * *', '1 * 3', '* * 1-5');
    fc.assert(
      fc.property(list(59), list(23), days, (minutes, hours, rest) => {
        const text = `${minutes} ${hours} ${rest}`;
        const ticks = new Cron(text, { mode: '5-part', timezone: 'UTC', paused: true })
          .nextRuns(1_200, new Date('2024-01-01T00:00:00Z'))
          .map((tick) => tick.getTime() / 60_000);
        const gaps = ticks.slice(1).map((tick, index) => tick - ticks[index]!);
        expect(scheduleGap(text)).toBe(Math.min(1_440, ...gaps));
      }),
      { numRuns: 40 },
    );
  });
});

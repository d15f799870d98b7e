import { Cron, CronPattern } from 'croner';

export type ScheduleFault = { reason: string; suggestion?: string };

const minutesOfDay = 24 * 60;

/** Every date of eight years, two of them leap years: what a plain day field matches, it matches within them. */
const dates = Array.from({ length: 8 * 366 }, (_, index) => new Date(Date.UTC(2024, 0, 1 + index))).map(
  (date) => ({ day: date.getUTCDate() - 1, month: date.getUTCMonth(), weekday: date.getUTCDay() }),
);

/** The least minutes between two ticks; a shorter one would outrun a read. */
export const readScheduleMinutes = 10;
export const watchScheduleMinutes = 60;
/** Each time, all records of an object are looked at. */
export const associationScheduleMinutes = 60;

/** Why the cron text is no schedule, or undefined. Times are UTC, so that no clock change moves two ticks together. */
export function scheduleFault(text: string, leastMinutes: number): ScheduleFault | undefined {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) {
    return { reason: 'must have exactly five fields: minute, hour, day of month, month, day of week' };
  }
  let pattern: CronPattern;
  try {
    pattern = open(parts);
  } catch (error) {
    return {
      reason: `is not a valid cron expression: ${(error as Error).message.replace(/^CronPattern: /, '')}`,
    };
  }
  if (!fires(pattern, parts)) return { reason: 'never fires: there is no such date' };
  const gap = leastGap(pattern, parts);
  if (gap >= leastMinutes) return undefined;
  return {
    reason: `fires ${gap} minute${gap === 1 ? '' : 's'} apart; the least is ${leastMinutes} minutes`,
    suggestion: leastMinutes < 60 ? `*/${leastMinutes} * * * *` : '0 * * * *',
  };
}

/** The least minutes between two ticks of a valid schedule. */
export function scheduleGap(text: string): number {
  const parts = text.trim().split(/\s+/);
  return leastGap(open(parts), parts);
}

function leastGap(pattern: CronPattern, parts: string[]): number {
  const minutes = indexes(pattern.minute);
  const ticks = indexes(pattern.hour).flatMap((hour) => minutes.map((minute) => hour * 60 + minute));
  const first = ticks[0] ?? 0;
  const last = ticks.at(-1) ?? 0;
  const within = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  const overMidnight = minutesOfDay - last + first;
  const least = Math.min(minutesOfDay, ...within);
  return overMidnight < least && firesOnNeighbouringDays(pattern, parts) ? overMidnight : least;
}

function indexes(flags: readonly number[]): number[] {
  return [...flags.entries()].filter(([, flag]) => flag > 0).map(([index]) => index);
}

function open(parts: string[]): CronPattern {
  return new CronPattern(parts.join(' '), 'UTC', { mode: '5-part' });
}

/** Days such as "the last Friday" cannot be read off the pattern's flags. */
function isPlain([, , ...days]: string[]): boolean {
  return !/[LW#+?]/i.test(days.join(' ').replaceAll(/[A-Za-z]{3}/g, ''));
}

function fires(pattern: CronPattern, parts: string[]): boolean {
  if (isPlain(parts)) return dates.some((date) => isOn(pattern, date));
  return new Cron(parts.join(' '), { mode: '5-part', timezone: 'UTC', paused: true }).nextRun() !== null;
}

/** Which days a schedule fires on is up to months, leap years and weekdays: looked at rather than reasoned about. */
function firesOnNeighbouringDays(pattern: CronPattern, parts: string[]): boolean {
  if (!isPlain(parts)) return true;
  return dates.some((date, index) => {
    const next = dates[index + 1];
    return next !== undefined && isOn(pattern, date) && isOn(pattern, next);
  });
}

/** Of a day of the month and a weekday that are both restricted, one suffices. */
function isOn(pattern: CronPattern, { day, month, weekday }: (typeof dates)[number]): boolean {
  if ((pattern.month[month] ?? 0) === 0) return false;
  const isDay = (pattern.day[day] ?? 0) > 0;
  const isWeekday = (pattern.dayOfWeek[weekday] ?? 0) > 0;
  if (pattern.starDOM || pattern.starDOW) return isDay && isWeekday;
  return isDay || isWeekday;
}

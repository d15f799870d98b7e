import { Cron, CronPattern } from 'croner';

export type ScheduleFault = { reason: string; suggestion?: string };

const minutesOfDay = 24 * 60;
const daysLookedAt = 800;

/** The least minutes between two ticks; a shorter one would outrun a read (product-api 2.2, 2.6). */
export const readScheduleMinutes = 10;
export const watchScheduleMinutes = 60;

/** Why the cron text is no schedule, or undefined. Times are UTC, so that no clock change moves two ticks together. */
export function scheduleFault(text: string, leastMinutes: number): ScheduleFault | undefined {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) {
    return { reason: 'must have exactly five fields: minute, hour, day of month, month, day of week' };
  }
  let pattern: CronPattern;
  let cron: Cron;
  try {
    pattern = new CronPattern(parts.join(' '), 'UTC', { mode: '5-part' });
    cron = open(parts.join(' '));
  } catch (error) {
    return {
      reason: `is not a valid cron expression: ${(error as Error).message.replace(/^CronPattern: /, '')}`,
    };
  }
  if (!cron.nextRun()) return { reason: 'never fires: there is no such date' };
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
  return leastGap(new CronPattern(parts.join(' '), 'UTC', { mode: '5-part' }), parts);
}

function leastGap(pattern: CronPattern, parts: string[]): number {
  const minutes = indexes(pattern.minute);
  const ticks = indexes(pattern.hour).flatMap((hour) => minutes.map((minute) => hour * 60 + minute));
  const first = ticks[0] ?? 0;
  const last = ticks.at(-1) ?? 0;
  const within = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0));
  const overMidnight = minutesOfDay - last + first;
  const least = Math.min(minutesOfDay, ...within);
  return overMidnight < least && firesOnNeighbouringDays(parts) ? overMidnight : least;
}

function indexes(flags: readonly number[]): number[] {
  return [...flags.entries()].filter(([, flag]) => flag > 0).map(([index]) => index);
}

/** Which days a schedule fires on is up to months, leap years and weekdays: looked at rather than reasoned about. */
function firesOnNeighbouringDays([, , ...days]: string[]): boolean {
  if (days.every((part) => part === '*')) return true;
  const runs = open(`0 0 ${days.join(' ')}`).nextRuns(daysLookedAt, new Date('2024-01-01T00:00:00Z'));
  return runs.some((run, index) => run.getTime() - (runs[index - 1]?.getTime() ?? 0) <= 86_400_000);
}

function open(text: string): Cron {
  return new Cron(text, { mode: '5-part', timezone: 'UTC', paused: true });
}

/** When the objects of installations are read. */
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { scheduleGap } from '../../projects/index.ts';

const longestSpreadMs = 300_000;
/** A pattern costs a hundred microseconds to open; few differ among many installations. */
const mostPatterns = 10_000;

interface Pattern {
  cron: Cron;
  spreadMs: number;
}

/** A tick of the schedule, and when the read begins for it. Milliseconds since the epoch. */
export interface ScheduledRun {
  tickAt: number;
  dueAt: number;
}

const patterns = new Map<string, Pattern>();

function patternOf(schedule: string): Pattern {
  const known = patterns.get(schedule);
  if (known) return known;
  const [oldest] = patterns.keys();
  if (patterns.size >= mostPatterns && oldest !== undefined) patterns.delete(oldest);
  const cron = new Cron(schedule, { mode: '5-part', timezone: 'UTC', paused: true });
  const pattern = { cron, spreadMs: Math.min(longestSpreadMs, (scheduleGap(schedule) * 60_000) / 10) };
  patterns.set(schedule, pattern);
  return pattern;
}

/**
 * The run of the first tick after `now`, of a schedule that was checked; undefined where none follows. Reckoned from now, so
 * that however many ticks were missed, one run makes up for them. Each object of an installation is late by a time of its
 * own, the same for each tick: a million that tick together do not begin together.
 */
export function nextRun(
  { schedule, installationId, objectName }: { schedule: string; installationId: string; objectName: string },
  now: number,
): ScheduledRun | undefined {
  const { cron, spreadMs } = patternOf(schedule);
  const tick = cron.nextRun(new Date(now));
  if (!tick) return undefined;
  const tickAt = tick.getTime();
  return { tickAt, dueAt: tickAt + (hashOf(installationId, objectName) % spreadMs) };
}

function hashOf(installationId: string, objectName: string): number {
  const hash = createHash('sha256').update(`${installationId}\n${objectName.toLowerCase()}`).digest();
  return hash.readUInt32BE();
}

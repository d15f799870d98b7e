import type { ReactNode } from 'react';
import { useWords } from './clock.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const short = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** A time in the zone of who looks, in UTC where the pointer rests. */
export function Time({ at, look = 'short' }: { at: string; look?: 'short' | 'full' | 'ago' }): ReactNode {
  const date = new Date(at);
  const shown = look === 'ago' ? <Ago date={date} /> : (look === 'full' ? full : short).format(date);
  return (
    <time dateTime={at} title={`${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`}>
      {shown}
    </time>
  );
}

function Ago({ date }: { date: Date }): ReactNode {
  return useWords(date.getTime(), () => ago(date));
}

/** How long ago, or in how long, in the largest unit that fits. */
export function ago(date: Date, now = Date.now()): string {
  const seconds = Math.round((date.getTime() - now) / 1000);
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A length of time, as `340 ms`, `2.4 s` or `3 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

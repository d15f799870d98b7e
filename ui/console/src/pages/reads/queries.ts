import type { ReadState, ReadStatus } from '@svc/client';
import type { Tone } from '../../ui/badge.tsx';

/** What the API calls the status of a read, and what people do; what needs somebody first. */
export const readStates: Readonly<Record<ReadStatus, [word: string, tone: Tone]>> = {
  failing: ['Failing', 'warning'],
  paused: ['Paused', 'neutral'],
  running: ['Running', 'info'],
  idle: ['Works', 'good'],
  disabled: ['Switched off', 'neutral'],
  removed: ['Taken away', 'neutral'],
};

/** The same, and whether it paused after failures; in part: what compares its associations did. */
export function stateOf({ status, paused }: ReadState): [word: string, tone: Tone] {
  if (status !== 'paused') return readStates[status];
  if (!paused) return ['Paused in part', 'bad'];
  return paused.reason === 'failures' ? ['Paused by itself', 'bad'] : readStates.paused;
}

/** Scheduled runs that failed one after the other; of what compares associations, if those are more. */
export const failuresOf = ({ failures, associations }: ReadState): number =>
  Math.max(failures, associations?.failures ?? 0);

import type { Ground } from '../../../kit/ground.ts';
import { createPeriodic, type Periodic } from '../../../kit/periodic.ts';
import { tidy } from './store.ts';

const everyMs = 60_000;

/** Looks after the tables of auto-batches from time to time. */
export function createBatchKeeper({ database, log }: Pick<Ground, 'database' | 'log'>): Periodic {
  return createPeriodic({ log, what: 'looking after auto-batches', everyMs, round: () => tidy(database) });
}

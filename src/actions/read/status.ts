import type { ReadStatus } from './schema.ts';
import type { ReadFilter, Standing } from './store/states.ts';

/** Where a config that switches a read off says more than its feeds do. */
const covered: readonly Standing[] = ['failing', 'running', 'idle'];

/** The status of a read that its config switches off, or does not. Pure. */
export function statusOf(standing: Standing, disabled: boolean): ReadStatus {
  return disabled && covered.includes(standing) ? 'disabled' : standing;
}

/** Which feeds reads of the status have: all of them, and few others. What is switched off has no schedule. Pure. */
export function feedsWith(status: ReadStatus): Pick<ReadFilter, 'standings' | 'isUnscheduled'> {
  return status === 'disabled' ? { standings: covered, isUnscheduled: true } : { standings: [status] };
}

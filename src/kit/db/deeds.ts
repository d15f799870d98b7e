import { AsyncLocalStorage } from 'node:async_hooks';
import type { Problem } from '../problem.ts';
import { isUnsaid, saysNothingDone } from './faults.ts';

/** Whether a request has changed something that is committed. */
export interface Deeds {
  isDone: boolean;
}

const current = new AsyncLocalStorage<Deeds | undefined>();

/** What is committed within the work is noted in the deeds. */
export function noting<T>(deeds: Deeds, work: () => T): T {
  return current.run(deeds, work);
}

/** Work for many requests at once, or beside the one that happens to start it: what it commits is none of its deeds. */
export function apart<T>(work: () => T): T {
  return current.getStore() ? current.run(undefined, work) : work();
}

/** Something that was asked for is committed. */
export function noteDone(): void {
  const deeds = current.getStore();
  if (deeds) deeds.isDone = true;
}

/** Whether the request may have been done, or a part of it, though it fails with the problem. By default the request in which the caller runs. */
export function mayBeDone(fault: Problem, deeds: Deeds | undefined = current.getStore()): boolean {
  return isUnsaid(fault) || (deeds?.isDone === true && saysNothingDone(fault));
}

import type { WriteRequest } from '../schema.ts';

const defaultDeadlineHours = 1;
// A synchronous write is one attempt; its row outlives the call only if the node dies.
const synchronousDeadlineSeconds = 3600;

/** How long a write may take from its acceptance on, in seconds. Beside `autoBatchPolicy`, `retryPolicy` is ignored. */
export function deadlineOf({ mode, autoBatchPolicy, retryPolicy }: WriteRequest): number {
  if (mode !== 'asynchronous') return synchronousDeadlineSeconds;
  const hours = autoBatchPolicy ? autoBatchPolicy.retryDeadlineHours : retryPolicy?.deadlineHours;
  return (hours ?? defaultDeadlineHours) * 3600;
}

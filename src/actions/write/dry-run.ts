import { connectorOf } from '../../providers/index.ts';
import { callOf, splitCalls } from './execute.ts';
import type { WritePlan } from './plan.ts';
import type { WriteResponse } from './schema.ts';

/** What the plan would send, without sending it: the records and the provider calls. Values that are only known by reading first are as if empty. */
export function dryRun(plan: WritePlan, provider: string): NonNullable<WriteResponse['plan']> {
  const connector = connectorOf(provider);
  const slots = [...plan.records.keys()];
  const calls = splitCalls(slots, (slot) => plan.records[slot]?.id, connector?.batchLimit ?? 1).flatMap(
    (group) => {
      const call = callOf(
        plan,
        group.flatMap((slot) => plan.records[slot] ?? []),
      );
      const request = connector?.write?.build(call);
      return request
        ? [
            {
              method: request.method,
              path: request.path,
              ...(request.body === undefined ? {} : { body: request.body }),
            },
          ]
        : [];
    },
  );
  return { records: plan.records.map((record) => ({ ...record })), calls };
}

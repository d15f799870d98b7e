import { connectorOf, type ObjectDescription, type ProviderRequest } from '../../../providers/index.ts';
import { callsOf, idsOf, sift } from './execute.ts';
import { emptyUpdates, readBefore } from './if-empty.ts';
import { looksBefore } from './look-up.ts';
import { turnsOf } from './turns.ts';
import type { WritePlan } from '../prepare/plan.ts';
import type { WriteResponse } from '../schema.ts';

type ShownPlan = NonNullable<WriteResponse['plan']>;

/**
 * What the plan would send, without sending it: the records, the provider calls, and what would be refused without one.
 * Values that are only known by reading first are taken to be empty.
 */
export function dryRun(plan: WritePlan, provider: string, description?: ObjectDescription): ShownPlan {
  const records = plan.records.map((record) => ({ ...record }));
  const connector = connectorOf(provider);
  const write = connector?.write;
  if (!connector || !write) return { records, calls: [] };
  const { allowed, refused } = sift(plan, plan.records, connector, description);
  const calls: ProviderRequest[] = [];
  for (const turn of turnsOf(allowed, idsOf(allowed, connector))) {
    calls.push(...looksBefore(plan, turn.values(), connector, description));
    const read = readBefore(turn.values(), connector);
    if (read) calls.push(read.ability.build(plan.objectName, read.ids, read.fields));
    for (const slot of emptyUpdates(plan, turn)) turn.delete(slot);
    calls.push(...callsOf(plan, turn, connector).map(({ call }) => write.build(call)));
  }
  return {
    records,
    calls: calls.map(shown),
    ...(refused.size > 0
      ? { refused: [...refused].map(([index, { category, message }]) => ({ index, category, message })) }
      : {}),
  };
}

/** The headers are those that the caller forwards; the credential is added when it is sent. */
function shown({ method, path, headers, body }: ProviderRequest): ShownPlan['calls'][number] {
  return { method, path, ...(headers ? { headers } : {}), ...(body === undefined ? {} : { body }) };
}

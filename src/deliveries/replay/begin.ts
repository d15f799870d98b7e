import { record } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { newId } from '../../kit/ids.ts';
import type { ReplayFilter } from './schema.ts';
import { rangeOf, sliceOf } from './slice.ts';
import { insertReplay, walk, type NewReplay } from './store.ts';

/** Sends again what ran out of attempts at a destination, in the transaction that enables it. Answers whether there was any. */
export async function replayDeadLetters(
  tx: Queryable,
  projectId: string,
  destinationId: string,
  isRecordsOnly: boolean,
): Promise<boolean> {
  const filter = { destination: destinationId, status: 'failed' } as const;
  const planned = planOf(projectId, destinationId, filter);
  const { ids } = await walk(tx, sliceOf(planned, isRecordsOnly), 1);
  if (ids.length === 0) return false;
  await begin(tx, planned);
  return true;
}

/** The audit log has it with the replay. */
export async function begin(tx: Queryable, planned: NewReplay): Promise<void> {
  const { project_id: projectId, id, destination_id: destinationId, filter } = planned;
  await insertReplay(tx, planned);
  const details = { destinationId, filter };
  await record(tx, { projectId, action: 'replay.started', targetId: id, details });
}

/** With its destination resolved: `filter.destination` is an id. */
export function planOf(projectId: string, destinationId: string, filter: ReplayFilter): NewReplay {
  return { project_id: projectId, id: newId(), destination_id: destinationId, filter, ...rangeOf(filter) };
}

import { record } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { newId } from '../../kit/ids.ts';
import type { ReplayFilter } from './schema.ts';
import { rangeOf, sliceOf } from './slice.ts';
import { insertReplay, walk, type NewReplay, type Slice } from './store.ts';

/** Sends again what ran out of attempts at a destination, in the transaction that enables it. Answers whether there was any. */
export async function replayDeadLetters(
  tx: Queryable,
  projectId: string,
  destinationId: string,
  isRecordsOnly: boolean,
): Promise<boolean> {
  const filter = { destination: destinationId, status: 'failed' } as const;
  const planned = planOf(projectId, destinationId, filter);
  if (!(await hasAny(tx, sliceOf(planned, isRecordsOnly)))) return false;
  await begin(tx, planned);
  return true;
}

const lookedAtOnce = 1_000;

/** Those of which no content is kept any more may stand before it. */
async function hasAny(tx: Queryable, slice: Slice): Promise<boolean> {
  for (let { after } = slice; ;) {
    const { ids, last, scanned } = await walk(tx, { ...slice, after }, lookedAtOnce);
    if (ids.length > 0) return true;
    if (last === null || scanned < lookedAtOnce) return false;
    after = last;
  }
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

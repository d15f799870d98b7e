import { firstIdAt, newId } from '../../kit/ids.ts';
import type { ReplayFilter } from './schema.ts';
import type { ReplayRow, Slice } from './store.ts';

const firstId = '00000000-0000-0000-0000-000000000000';

/** The ids between which the messages stand that a new replay looks at: none that is made after it. */
export function rangeOf({ from, to }: ReplayFilter): Pick<ReplayRow, 'place' | 'until'> {
  const now = newId();
  const end = to === undefined ? now : firstIdAt(to);
  return { place: from === undefined ? firstId : firstIdAt(from), until: end < now ? end : now };
}

/** What is left of a replay to a destination that takes all messages, or those of records alone. Its filter is kept with the id of its destination. */
export function sliceOf(
  row: Pick<ReplayRow, 'project_id' | 'place' | 'until' | 'destination_id' | 'filter'>,
  isRecordsOnly: boolean,
): Slice {
  const { destination, installationId, groupRef, object, status } = row.filter;
  return {
    projectId: row.project_id,
    after: row.place,
    until: row.until,
    target: row.destination_id,
    isRecordsOnly,
    destinationId: destination,
    installationId,
    groupRef,
    object,
    status,
  };
}

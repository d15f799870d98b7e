import type { Database } from '../kit/db/database.ts';
import type { End, Kind, Marked } from './kind.ts';
import { hurryMore, hurryName, recordEnds } from './store/hurry.ts';

/**
 * The work of making due what waits in a lane, where that is more than one statement should change. It stands in that lane, behind what it
 * made due before. Whoever holds the lane does a portion; a node of the former release leaves it to others.
 */
export function hurryKind(database: Database): Kind<Marked, End> {
  return {
    name: hurryName,
    load: async (_db, marked) => [...marked],
    async run(item) {
      const isMore = await hurryMore(database, item);
      return { end: { ...endOf(item, 0), done: !isMore } };
    },
    rescued: 'again',
    unsent: endOf,
    record: recordEnds,
    about: ({ projectId, seq }) => ({ projectId, seq }),
  };
}

function endOf({ projectId, seq, lease, mark }: Marked, waitMs: number): End {
  // Portions are no attempts.
  return { projectId, seq, lease, mark, done: false, waitMs, spent: false };
}

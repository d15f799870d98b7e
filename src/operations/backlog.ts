import type { Database } from '../kit/db/database.ts';
import { sleep } from '../kit/retry.ts';
import { oldestSnapshotSeconds, readBacklog, type BacklogRow } from './store/backlog.ts';

export type { BacklogRow } from './store/backlog.ts';

/** What is unfinished, as the database has it. */
export interface Backlog {
  rows: readonly BacklogRow[];
  /** Of the oldest snapshot that a session of the database holds. */
  snapshotSeconds: number;
}

export interface BacklogReader {
  /** By kind and provider; at most a few seconds old, and read once for all who ask meanwhile. Undefined: it cannot be read now. */
  backlog(): Promise<Backlog | undefined>;
  /** By connection, too: the thousand with most. */
  backlogByConnection(): Promise<BacklogRow[]>;
}

const keptMs = 5_000;
/** Who collects figures does not wait for a database that is silent. */
const patienceMs = 2_000;

export function createBacklogReader(database: Database): BacklogReader {
  let reading: Promise<Backlog | undefined> | undefined;
  let readAt = -Infinity;

  async function read(): Promise<Backlog | undefined> {
    const [rows, snapshotSeconds] = await Promise.all([
      readBacklog(database, 'provider'),
      oldestSnapshotSeconds(database),
    ]);
    return { rows, snapshotSeconds };
  }

  return {
    async backlog() {
      if (!reading || performance.now() - readAt > keptMs) {
        readAt = performance.now();
        reading = read().catch(() => undefined);
      }
      return Promise.race([reading, sleep(patienceMs).then(() => undefined)]);
    },
    backlogByConnection: () => readBacklog(database, 'connection'),
  };
}

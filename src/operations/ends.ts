import type { Queryable } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { createInstallationStatus } from './installation-status.ts';
import { countAttempt, tellEnd } from './outcomes.ts';
import type { Ended, Settlement } from './settlement.ts';
import { record } from './store/record.ts';
import type { TellNow } from './tell-now.ts';
import { placeOf, type WorkItem } from './work.ts';

/** How the ends of attempts are kept in the ledger, and who is told of them: a part of a kind of the lanes. */
export interface Ends {
  record(db: Queryable, settled: readonly Settlement[]): Promise<boolean[]>;
  recorded(settled: readonly Ended[]): void;
  about(of: WorkItem | Settlement): Record<string, unknown>;
  /** Tells the installations what they were not told yet. */
  close(): Promise<void>;
}

/** `now` may send what tells of ends recorded in a commit of their own; what it leaves waits for the workers. */
export function endsOf(
  { database, metrics, log }: Pick<Ground, 'database' | 'metrics' | 'log'>,
  now?: TellNow,
): Ends {
  const projects = new Set<string>();
  const installationStatus = createInstallationStatus(database, log);
  return {
    record: (db, settled) => record(db, settled, { projects, now: db === database ? now : undefined }),
    recorded(settled) {
      for (const one of settled) countAttempt(metrics, one);
      for (const { projectId, operationId: id, status, place } of settled)
        database.tell(projectId, { type: 'operation', id, status, groupRef: place.groupRef });
      const ended = settled.filter(({ done }) => done);
      for (const one of ended) tellEnd(log, one);
      installationStatus.note(ended);
    },
    about: (of) => ({
      projectId: of.projectId,
      ...('place' in of ? of.place : placeOf(of.request)),
      operationId: of.operationId,
    }),
    close: () => installationStatus.close(),
  };
}

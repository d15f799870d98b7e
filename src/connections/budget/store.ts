import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

/** A window that is closed, or was until a moment ago; `until` is in milliseconds since the epoch, by the database's clock. */
export interface StoredClosure {
  projectId: string;
  connectionId: string;
  until: number;
  lockedOut: boolean;
}

// The order keeps two nodes that write the same rows from waiting for one another.
const save = statement(
  'budget_save',
  `INSERT INTO budget (project_id, connection_id, closed_until, locked_out)
   SELECT project_id, connection_id, to_timestamp(until_ms / 1000), locked_out
   FROM unnest($1::uuid[], $2::uuid[], $3::float8[], $4::boolean[]) AS given (project_id, connection_id, until_ms, locked_out)
   ORDER BY project_id, connection_id
   ON CONFLICT (project_id, connection_id) DO UPDATE
     SET closed_until = excluded.closed_until, locked_out = excluded.locked_out
     WHERE budget.closed_until < excluded.closed_until`,
);

const open = statement(
  'budget_open',
  `UPDATE budget SET closed_until = svc_now(), locked_out = false
   WHERE project_id = $1 AND connection_id = $2 AND closed_until > svc_now()`,
);

// The clock comes with it, also when no window is closed. Those that ended a moment ago tell of one that was opened before its time.
const readOpen = statement(
  'budget_read_closed',
  `SELECT (extract(epoch FROM svc_now()) * 1000)::float8 AS now_ms, project_id, connection_id, locked_out,
     (extract(epoch FROM closed_until) * 1000)::float8 AS until_ms
   FROM (VALUES (true)) AS one (row)
   LEFT JOIN (SELECT * FROM budget WHERE closed_until > svc_now() - interval '2 minutes'
     ORDER BY closed_until DESC LIMIT 10000) AS closed ON true`,
);

const clean = statement(
  'budget_clean',
  `DELETE FROM budget WHERE closed_until < svc_now() - interval '1 hour'`,
);

interface ClosedRow {
  now_ms: number;
  project_id: string | null;
  connection_id: string;
  locked_out: boolean;
  until_ms: number;
}

/** A window closed for longer stays closed for longer. */
export async function saveClosures(db: Queryable, closures: readonly StoredClosure[]): Promise<void> {
  await db.rows(save, [
    closures.map(({ projectId }) => projectId),
    closures.map(({ connectionId }) => connectionId),
    closures.map(({ until }) => until),
    closures.map(({ lockedOut }) => lockedOut),
  ]);
}

/** What was closed for the credentials that the transaction replaces opens with its commit; the nodes find it within a second. */
export async function openWindow(
  tx: Queryable,
  key: readonly [projectId: string, connectionId: string],
): Promise<void> {
  await tx.rows(open, [...key]);
}

/** The windows that are closed now, or were until a moment ago, and the database's time. */
export async function readClosures(db: Queryable): Promise<{ now: number; closures: StoredClosure[] }> {
  const rows = await db.rows<ClosedRow>(readOpen);
  return {
    now: rows[0]?.now_ms ?? Date.now(),
    closures: rows.flatMap(({ project_id, connection_id, until_ms, locked_out }) =>
      project_id === null
        ? []
        : [{ projectId: project_id, connectionId: connection_id, until: until_ms, lockedOut: locked_out }],
    ),
  };
}

export async function cleanClosures(db: Queryable): Promise<void> {
  await db.rows(clean);
}

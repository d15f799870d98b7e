import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

/** A window that is closed. Times are in milliseconds since the epoch, by the database's clock. */
export interface StoredClosure {
  projectId: string;
  connectionId: string;
  until: number;
  lockedOut: boolean;
  /** Of the credentials that the call carried that told of it. */
  generation: number;
}

/** A window that new credentials opened: what calls tell that carried older ones does not count. */
export interface Opening {
  projectId: string;
  connectionId: string;
  at: number;
  /** Of the new credentials. */
  generation: number;
}

// The order keeps two nodes that write the same rows from waiting for one another.
const save = statement(
  'budget_save',
  `WITH given AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::float8[], $4::boolean[], $5::float8[])
       AS g (project_id, connection_id, until_ms, locked_out, generation))
   INSERT INTO budget (project_id, connection_id, closed_until, locked_out)
   SELECT project_id, connection_id, to_timestamp(until_ms / 1000), locked_out FROM given ORDER BY project_id, connection_id
   ON CONFLICT (project_id, connection_id) DO UPDATE
     SET closed_until = excluded.closed_until, locked_out = excluded.locked_out
     WHERE budget.closed_until < excluded.closed_until
       AND (budget.opened_generation IS NULL OR budget.opened_generation <= (
         SELECT g.generation FROM given g
         WHERE g.project_id = budget.project_id AND g.connection_id = budget.connection_id))`,
);

const open = statement(
  'budget_open',
  `INSERT INTO budget (project_id, connection_id, closed_until, locked_out, opened_at, opened_generation)
   VALUES ($1, $2, svc_now(), false, svc_now(), $3::float8::bigint)
   ON CONFLICT (project_id, connection_id) DO UPDATE
     SET closed_until = least(budget.closed_until, svc_now()), locked_out = false, opened_at = svc_now(),
       opened_generation = excluded.opened_generation`,
);

// The clock comes with it, also when no window is closed. A transaction that opens a window commits within two minutes.
const read = statement(
  'budget_read',
  `SELECT (extract(epoch FROM svc_now()) * 1000)::float8 AS now_ms, project_id, connection_id, locked_out,
     (extract(epoch FROM closed_until) * 1000)::float8 AS until_ms, (extract(epoch FROM opened_at) * 1000)::float8 AS opened_ms,
     coalesce(opened_generation, 0)::float8 AS generation
   FROM (VALUES (true)) AS one (row)
   LEFT JOIN (
     (SELECT * FROM budget WHERE closed_until > svc_now() ORDER BY closed_until DESC LIMIT 10000)
     UNION ALL
     SELECT * FROM budget
     WHERE opened_at > to_timestamp($1::float8 / 1000) - interval '2 minutes' AND closed_until <= svc_now()
   ) AS told ON true`,
);

const clean = statement(
  'budget_clean',
  `DELETE FROM budget
   WHERE closed_until < svc_now() - interval '1 hour' AND (opened_at IS NULL OR opened_at < svc_now() - interval '1 day')`,
);

interface ToldRow {
  now_ms: number;
  project_id: string | null;
  connection_id: string;
  locked_out: boolean;
  until_ms: number;
  opened_ms: number | null;
  generation: number;
}

/** A window closed for longer stays closed for longer. */
export async function saveClosures(db: Queryable, closures: readonly StoredClosure[]): Promise<void> {
  await db.rows(save, [
    closures.map(({ projectId }) => projectId),
    closures.map(({ connectionId }) => connectionId),
    closures.map(({ until }) => until),
    closures.map(({ lockedOut }) => lockedOut),
    closures.map(({ generation }) => generation),
  ]);
}

/** What was closed for the credentials before those of the generation opens with the commit; the nodes find it within a second. */
export async function openWindow(
  tx: Queryable,
  key: readonly [projectId: string, connectionId: string],
  generation: number,
): Promise<void> {
  await tx.rows(open, [...key, generation]);
}

/** The windows that are closed now, those that were opened since the node read them last, and the database's time. */
export async function readClosures(
  db: Queryable,
  lastReadAt: number | undefined,
): Promise<{ now: number; closures: StoredClosure[]; openings: Opening[] }> {
  const rows = await db.rows<ToldRow>(read, [lastReadAt ?? null]);
  const now = rows[0]?.now_ms ?? Date.now();
  const closures: StoredClosure[] = [];
  const openings: Opening[] = [];
  for (const { project_id: projectId, connection_id: connectionId, ...row } of rows) {
    if (projectId === null) continue;
    const { until_ms: until, locked_out: lockedOut, opened_ms: at, generation } = row;
    if (at !== null) openings.push({ projectId, connectionId, at, generation });
    if (until > now) closures.push({ projectId, connectionId, until, lockedOut, generation });
  }
  return { now, closures, openings };
}

export async function cleanClosures(db: Queryable): Promise<void> {
  await db.rows(clean);
}

import { problem } from '../problem.ts';
import type { Database, Queryable } from './database.ts';
import { statement } from './statement.ts';

/** Which database this is, by what a copy of it has otherwise. */
export interface Server {
  /** Made with the cluster; empty where the role may not read it. */
  systemId: string;
  databaseOid: string;
  /** Counts recoveries of the cluster that ended in taking changes; empty in one that has not ended. */
  timeline: string;
  /** Of the table that the nodes note it in: another one where a dump was restored. */
  tableOid: string;
}

/** What the nodes noted of it. Times are milliseconds since the epoch by the clock of the database. */
export interface Lineage extends Omit<Server, 'tableOid'> {
  /** Null where no node of this release looked yet. */
  tableOid: string | null;
  seenAt: number;
  heldBecause: string | null;
}

export interface Seen {
  server: Server;
  lineage: Lineage | undefined;
  now: number;
}

export interface LineageOptions {
  /** For so long after the last sign of a node another timeline means that a replica was promoted. */
  failoverMs: number;
  /** When this node saw the database last: a database that has not seen that has gone back. */
  sawAt?: number | undefined;
}

export type Verdict = { held: string } | { recovering: true } | { promoted: true } | { known: true };

/** Whether the nodes may work with the database. */
export function judgeLineage(
  { server, lineage, now }: Seen,
  { failoverMs, sawAt = -Infinity }: LineageOptions,
): Verdict {
  // A replica, or a restore that has not ended: which of them, its timeline tells afterwards.
  if (server.timeline === '') return { recovering: true };
  if (!lineage) return { known: true };
  if (lineage.heldBecause !== null) return { held: lineage.heldBecause };
  const isSameCluster = [lineage.systemId, ''].includes(server.systemId) || lineage.systemId === '';
  if (!isSameCluster) return { held: 'it stands in another cluster than the one that svc worked with last' };
  if (server.databaseOid !== lineage.databaseOid)
    return { held: 'it is another database than the one that svc worked with last' };
  if (lineage.tableOid !== null && server.tableOid !== lineage.tableOid)
    return { held: 'its tables were made anew from a dump since svc worked with it last' };
  if (lineage.seenAt < sawAt) return { held: 'it has gone back in time while svc was running' };
  if (server.timeline === lineage.timeline) return { known: true };
  if (now - lineage.seenAt <= failoverMs) return { promoted: true };
  const seconds = Math.round((now - lineage.seenAt) / 1000);
  return { held: `it was recovered, and knows nothing of svc from the last ${seconds} s` };
}

const mayReadSystem = statement(
  'lineage_may_read_system',
  `SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AS may`,
);

const readSystem = statement(
  'lineage_system',
  'SELECT system_identifier::text AS "systemId" FROM pg_control_system()',
);

// Not svc_now(), which tests move. The doctor reads it before the column of `table_oid` is there, too.
const readLineage = statement(
  'lineage_read',
  `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS "databaseOid",
    'lineage'::regclass::oid::text AS "tableOid",
    CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END AS timeline,
    (SELECT json_build_object('systemId', system_id, 'databaseOid', database_oid::text, 'timeline', timeline,
      'tableOid', to_jsonb(lineage)->>'table_oid', 'seenAt', floor(extract(epoch FROM seen_at) * 1000),
      'heldBecause', held_because) FROM lineage) AS lineage`,
);

const noteLineage = statement(
  'lineage_note',
  `INSERT INTO lineage AS known (system_id, database_oid, timeline, table_oid, seen_at)
   VALUES ($1, $2, $3, $4, clock_timestamp())
   ON CONFLICT (one) DO UPDATE SET seen_at = greatest(known.seen_at, excluded.seen_at), timeline = excluded.timeline,
     table_oid = excluded.table_oid,
     system_id = CASE WHEN excluded.system_id = '' THEN known.system_id ELSE excluded.system_id END
   WHERE known.held_since IS NULL AND known.database_oid = excluded.database_oid
     AND coalesce(known.table_oid, excluded.table_oid) = excluded.table_oid
   RETURNING floor(extract(epoch FROM seen_at) * 1000)::float8 AS "seenAt"`,
);

const holdLineage = statement(
  'lineage_hold',
  `INSERT INTO lineage AS known (system_id, database_oid, timeline, table_oid, seen_at, held_since, held_because)
   VALUES ($1, $2, $3, $4, clock_timestamp(), now(), $5)
   ON CONFLICT (one) DO UPDATE SET held_since = coalesce(known.held_since, excluded.held_since),
     held_because = coalesce(known.held_because, excluded.held_because)`,
);

const acceptLineage = statement(
  'lineage_accept',
  `INSERT INTO lineage AS known (system_id, database_oid, timeline, table_oid, seen_at)
   VALUES ($1, $2, $3, $4, clock_timestamp())
   ON CONFLICT (one) DO UPDATE SET system_id = excluded.system_id, database_oid = excluded.database_oid,
     timeline = excluded.timeline, table_oid = excluded.table_oid, seen_at = excluded.seen_at, held_since = NULL, held_because = NULL`,
);

interface LineageRow {
  now: number;
  databaseOid: string;
  timeline: string;
  tableOid: string;
  lineage: Lineage | null;
}

export async function readLineageOf(db: Queryable): Promise<Seen> {
  const [asked] = await db.rows<{ may: boolean }>(mayReadSystem);
  const [system] = asked?.may ? await db.rows<{ systemId: string }>(readSystem) : [];
  const [row] = await db.rows<LineageRow>(readLineage);
  if (!row) throw problem('internal', { detail: 'The database did not say which one it is.' });
  const { now, databaseOid, timeline, tableOid, lineage } = row;
  return {
    now,
    server: { systemId: system?.systemId ?? '', databaseOid, timeline, tableOid },
    lineage: lineage ?? undefined,
  };
}

const columns = ({ systemId, databaseOid, timeline, tableOid }: Server): string[] => [
  systemId,
  databaseOid,
  timeline,
  tableOid,
];

/**
 * Looks whether this is the database that the nodes worked with, and notes that one is there. One that was restored is held
 * from now on, for all nodes. `promoted` ends before a promotion is noted: while it fails, each look finds the promotion again.
 */
export async function lookAtLineage(
  db: Queryable,
  options: LineageOptions,
  promoted: () => Promise<void>,
): Promise<{ verdict: Verdict; seenAt: number }> {
  const seen = await readLineageOf(db);
  const verdict = judgeLineage(seen, options);
  if ('recovering' in verdict) return { verdict, seenAt: seen.now };
  if ('held' in verdict) {
    await db.rows(holdLineage, [...columns(seen.server), verdict.held]);
    return { verdict, seenAt: seen.now };
  }
  if ('promoted' in verdict) await promoted();
  const [noted] = await db.rows<{ seenAt: number }>(noteLineage, columns(seen.server));
  // Held by another node since the look.
  if (!noted) return { verdict: { held: 'it was held' }, seenAt: seen.now };
  return { verdict, seenAt: noted.seenAt };
}

/** No node works with it until it is accepted. */
export async function holdDatabase(db: Queryable, because: string): Promise<void> {
  const { server } = await readLineageOf(db);
  await db.rows(holdLineage, [...columns(server), because]);
}

/** From now on this is the database that the nodes work with. */
export async function acceptDatabase(db: Queryable): Promise<void> {
  const { server } = await readLineageOf(db);
  await db.rows(acceptLineage, columns(server));
}

const lookEveryMs = 5_000;

/** Looks again and again; tells once when the database was restored. With the database away it goes on looking. */
export function watchLineage(
  database: Database,
  options: Omit<LineageOptions, 'sawAt'>,
  on: { restored(why: string): void; promoted: () => Promise<void> },
): () => void {
  let sawAt: number | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const { verdict, seenAt } = await lookAtLineage(database, { ...options, sawAt }, on.promoted);
      // It is judged once the server is promoted.
      if ('recovering' in verdict) return;
      if ('held' in verdict) on.restored(verdict.held);
      sawAt = seenAt;
    } catch {
      // Away, or takes no changes: what is ready tells that.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

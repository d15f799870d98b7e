import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { HistoryKind } from './schema.ts';

export interface ErasureRow {
  project_id: string;
  id: string;
  /** Null: of all groups, and what belongs to none. */
  group_ref: string | null;
  until: string;
  status: 'running' | 'done';
  /** What is being erased; null: it has not begun. */
  kind: HistoryKind | null;
  place: string;
  removed: Partial<Record<HistoryKind, number>>;
  unfinished: string;
  created_at: Date;
  updated_at: Date;
}

const insert = statement(
  'erasure_insert',
  `INSERT INTO erasure (project_id, id, group_ref, until, place) VALUES ($1, $2, $3, greatest($4::uuid, svc_uuid_floor(svc_now())), $5)
  RETURNING *`,
);
const find = statement('erasure_find', 'SELECT * FROM erasure WHERE project_id = $1 AND id = $2');
/**
 * The oldest first; one that another node has in hand is left to it. What changes were under way when it was asked for, and did not see it,
 * have ended: what they stored is found. As text a time keeps its microseconds.
 */
const next = statement(
  'erasure_next',
  `SELECT *, created_at::text AS asked_at FROM erasure e WHERE status = 'running' AND NOT EXISTS (
    SELECT FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_xid IS NOT NULL
      AND a.xact_start < e.created_at + interval '1 second' - (svc_now() - now()))
  ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
);
const move = statement(
  'erasure_move',
  `UPDATE erasure SET kind = $3, place = $4, status = $5, removed = $6, unfinished = unfinished + $7, updated_at = svc_now()
  WHERE project_id = $1 AND id = $2`,
);

/** `until`: an id of now, of this node. Where its clock is behind the database's, the database's counts. */
export type NewErasure = Pick<ErasureRow, 'project_id' | 'id' | 'group_ref' | 'until' | 'place'>;

export async function insertErasure(
  tx: Queryable,
  { project_id, id, group_ref, until, place }: NewErasure,
): Promise<ErasureRow | undefined> {
  return (await tx.rows<ErasureRow>(insert, [project_id, id, group_ref, until, place]))[0];
}

export async function findErasure(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ErasureRow | undefined> {
  return (await db.rows<ErasureRow>(find, [projectId, id]))[0];
}

/** Held until the transaction ends. */
export async function takeErasure(tx: Queryable): Promise<(ErasureRow & { asked_at: string }) | undefined> {
  return (await tx.rows<ErasureRow & { asked_at: string }>(next))[0];
}

export async function moveErasure(
  tx: Queryable,
  { project_id, id, kind, place, status, removed }: ErasureRow,
  unfinished: number,
): Promise<void> {
  await tx.rows(move, [project_id, id, kind, place, status, JSON.stringify(removed), unfinished]);
}

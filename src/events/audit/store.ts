import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { storedId } from '../../kit/ids.ts';
import type { Actor } from '../actor.ts';
import type { AuditAction } from './schema.ts';

export interface AuditRow {
  id: string;
  action: AuditAction;
  target_type: string;
  target_id: string;
  actor_kind: Actor['kind'];
  key_id: string | null;
  group_ref: string | null;
  consumer_ref: string | null;
  person_id: string | null;
  email: string | null;
  address: string | null;
  request_id: string | null;
  details: Record<string, unknown> | null;
  created_at: Date;
}

const insert = statement(
  'audit_insert',
  `INSERT INTO audit_log (project_id, id, action, target_type, target_id, actor_kind, key_id, group_ref, consumer_ref,
     address, request_id, person_id, email, details)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
  { isNote: true },
);

/** What was done to a group is told by the text of `details`: reading that as JSON fails at characters that no text of the database holds. */
const list = statement(
  'audit_list',
  `SELECT id, action, target_type, target_id, actor_kind, key_id, group_ref, consumer_ref, person_id, email, address,
     request_id, details, created_at
   FROM audit_log
   WHERE project_id = $1 AND id < $2::uuid AND ($3::text IS NULL OR action = $3) AND ($4::text IS NULL OR target_id = $4)
     AND ($5::text IS NULL OR key_id = $5)
     AND ($6::text IS NULL OR group_ref = $6 OR strpos(details::text, '"groupRef":' || $11) > 0)
     AND ($7::timestamptz IS NULL OR id >= svc_uuid_floor($7)) AND ($8::timestamptz IS NULL OR id < svc_uuid_floor($8))
     AND ($9::uuid IS NULL OR person_id = $9)
   ORDER BY id DESC LIMIT $10`,
);

const targets = statement(
  'audit_targets',
  `SELECT DISTINCT target_id FROM audit_log WHERE project_id = $1 AND action = $2 AND target_id = ANY($3::text[])`,
);

const detailsOfTarget = statement(
  'audit_details',
  `SELECT details FROM audit_log WHERE project_id = $1 AND action = $2 AND target_id = $3 ORDER BY id`,
);

/** What is told of each time that it was done to the target, as far back as entries are kept. */
export async function detailsOf(
  db: Queryable,
  projectId: string,
  action: AuditAction,
  targetId: string,
): Promise<Record<string, unknown>[]> {
  const rows = await db.rows<{ details: Record<string, unknown> | null }>(detailsOfTarget, [
    projectId,
    action,
    targetId,
  ]);
  return rows.map(({ details }) => details ?? {});
}

/** To which of the targets it was done, as far back as entries are kept. */
export async function doneBefore(
  db: Queryable,
  projectId: string,
  action: AuditAction,
  targetIds: readonly string[],
): Promise<Set<string>> {
  if (targetIds.length === 0) return new Set();
  const rows = await db.rows<{ target_id: string }>(targets, [projectId, action, targetIds]);
  return new Set(rows.map((row) => row.target_id));
}

export interface NewAuditEntry {
  projectId: string;
  id: string;
  action: AuditAction;
  targetId: string;
  actor: Actor;
  details: Record<string, unknown> | undefined;
}

export async function insertAuditEntry(tx: Queryable, entry: NewAuditEntry): Promise<void> {
  const { projectId, id, action, targetId, actor, details } = entry;
  const { kind, keyId = null, groupRef = null, consumerRef = null, address = null, requestId = null } = actor;
  const { personId = null, email = null } = actor;
  const who = [kind, keyId, groupRef, consumerRef, address, requestId, personId, email];
  const target = [action.split('.')[0], storedId(targetId)];
  await tx.rows(insert, [
    projectId,
    id,
    action,
    ...target,
    ...who,
    details === undefined ? null : JSON.stringify(details),
  ]);
}

export interface AuditFilter {
  before: string;
  action?: AuditAction;
  targetId?: string;
  keyId?: string;
  groupRef?: string;
  personId?: string;
  from?: string;
  to?: string;
  limit: number;
}

/** Newest first. */
export function listAuditEntries(db: Queryable, projectId: string, filter: AuditFilter): Promise<AuditRow[]> {
  const { before, action, targetId, keyId, groupRef, from, to, personId, limit } = filter;
  const target = targetId === undefined ? null : storedId(targetId);
  const given = [action, target, keyId, groupRef, from, to, personId].map((value) => value ?? null);
  const written = groupRef === undefined ? null : JSON.stringify(groupRef);
  return db.rows<AuditRow>(list, [projectId, before, ...given, limit, written]);
}

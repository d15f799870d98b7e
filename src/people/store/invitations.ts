import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Slice } from '../../kit/paging.ts';
import type { Role } from '../schema.ts';

export interface InvitationRow {
  id: string;
  project_id: string | null;
  project_name: string | null;
  app_name: string | null;
  person_id: string | null;
  email: string | null;
  role: Role | null;
  invited_by: string | null;
  created_at: Date;
  expires_at: Date;
}

const columns = `i.id, i.project_id, j.name AS project_name, j.app_name, i.person_id, i.email, i.role, i.invited_by, i.created_at,
  i.expires_at`;
const from = 'FROM invitation i LEFT JOIN project j ON j.id = i.project_id';

const insert = statement(
  'invitations_insert',
  `INSERT INTO invitation (id, project_id, person_id, email, role, token_hash, invited_by, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, svc_now() + $8 * interval '1 second') RETURNING created_at, expires_at`,
);
const find = statement(
  'invitations_find',
  `SELECT ${columns} ${from} WHERE i.token_hash = $1 AND i.expires_at > svc_now()`,
);
// A link of another kind is no invitation; one to a project that is gone leads nowhere.
const lockFor = statement(
  'invitations_lock_for',
  `SELECT ${columns} ${from} WHERE i.email = $1 AND i.person_id IS NULL AND i.expires_at > svc_now()
     AND (i.project_id IS NULL OR j.id IS NOT NULL) ORDER BY i.id FOR UPDATE OF i`,
);
const take = statement(
  'invitations_take',
  'DELETE FROM invitation WHERE id = $1 AND expires_at > svc_now() RETURNING id',
);
const list = statement(
  'invitations_list',
  `SELECT ${columns} ${from} WHERE i.project_id = $1 AND i.expires_at > svc_now() AND ($2::uuid IS NULL OR i.id < $2)
   ORDER BY i.id DESC LIMIT $3`,
);
const remove = statement(
  'invitations_delete',
  'DELETE FROM invitation WHERE project_id = $1 AND id = $2 RETURNING email',
);
const removeOf = statement(
  'invitations_delete_of',
  'DELETE FROM invitation WHERE project_id = $1 AND email = $2',
);
const removeResets = statement('invitations_delete_resets', 'DELETE FROM invitation WHERE person_id = $1');
const removeBy = statement(
  'invitations_delete_by',
  `DELETE FROM invitation WHERE project_id = $1 AND invited_by = (SELECT email FROM person WHERE id = $2)`,
);
const removeFor = statement(
  'invitations_delete_for',
  'DELETE FROM invitation WHERE project_id = $1 AND email = (SELECT email FROM person WHERE id = $2)',
);
const removeOwnersFor = statement(
  'invitations_delete_owners_for',
  'DELETE FROM invitation WHERE project_id IS NULL AND person_id IS NULL AND email = $1',
);
const anyWelcome = statement(
  'invitations_any_welcome',
  `SELECT FROM invitation WHERE project_id IS NULL AND person_id IS NULL AND expires_at > svc_now() LIMIT 1`,
);
// Held until the transaction ends, so that of two starting nodes one finds the link of the other.
const lock = statement(
  'invitations_lock_welcome',
  `SELECT pg_advisory_xact_lock(hashtextextended('svc:welcome', 0))`,
);
const sweep = statement('invitations_sweep', 'DELETE FROM invitation WHERE expires_at < svc_now()');

export interface NewInvitation {
  id: string;
  projectId?: string;
  personId?: string;
  email?: string;
  role?: Role;
  tokenHash: Buffer;
  invitedBy?: string | undefined;
  lifeSeconds: number;
}

/** One to the same project for the same address takes its place, and so does a reset link for the same person. */
export async function insertInvitation(
  db: Queryable,
  given: NewInvitation,
): Promise<{ created_at: Date; expires_at: Date }> {
  await db.rows(sweep);
  const { id, projectId = null, personId = null, email = null, role = null, invitedBy = null } = given;
  if (projectId !== null) await db.rows(removeOf, [projectId, email]);
  if (personId !== null) await deleteResets(db, personId);
  const values = [id, projectId, personId, email, role, given.tokenHash, invitedBy, given.lifeSeconds];
  const [row] = await db.rows<{ created_at: Date; expires_at: Date }>(insert, values);
  return row as { created_at: Date; expires_at: Date };
}

/** While it holds. */
export async function findInvitation(db: Queryable, tokenHash: Buffer): Promise<InvitationRow | undefined> {
  return (await db.rows<InvitationRow>(find, [tokenHash]))[0];
}

/** All that hold for an address, until the transaction ends. */
export function lockInvitationsFor(tx: Queryable, email: string): Promise<InvitationRow[]> {
  return tx.rows<InvitationRow>(lockFor, [email]);
}

/** False when somebody else was first. */
export async function takeInvitation(db: Queryable, id: string): Promise<boolean> {
  return (await db.rows(take, [id])).length > 0;
}

/** Those to a project that a person made who is none of its owners any more. */
export async function deleteInvitationsBy(tx: Queryable, projectId: string, personId: string): Promise<void> {
  await tx.rows(removeBy, [projectId, personId]);
}

/** Those to a project that are out for the address of a person. */
export async function deleteInvitationsFor(
  tx: Queryable,
  projectId: string,
  personId: string,
): Promise<void> {
  await tx.rows(removeFor, [projectId, personId]);
}

/** The links by which whoever has an address becomes an operator. */
export async function deleteOwnerLinksFor(tx: Queryable, email: string): Promise<void> {
  await tx.rows(removeOwnersFor, [email]);
}

/** The links by which a person may choose a new password. */
export async function deleteResets(tx: Queryable, personId: string): Promise<void> {
  await tx.rows(removeResets, [personId]);
}

/** Newest first. */
export function listInvitations(
  db: Queryable,
  projectId: string,
  { beforeId = null, limit = null }: Slice,
): Promise<InvitationRow[]> {
  return db.rows<InvitationRow>(list, [projectId, beforeId, limit]);
}

/** Whom it was for, or undefined when there was none. */
export async function deleteInvitation(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<string | undefined> {
  return (await db.rows<{ email: string }>(remove, [projectId, id]))[0]?.email;
}

export async function lockWelcome(tx: Queryable): Promise<void> {
  await tx.rows(lock);
}

/** Whether a link for a first owner holds. */
export async function isWelcomeOut(db: Queryable): Promise<boolean> {
  return (await db.rows(anyWelcome)).length > 0;
}

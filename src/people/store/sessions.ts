import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Role } from '../schema.ts';

/** A session that holds, with all that a request needs of its person. */
export interface SessionRecord {
  hash: string;
  id: string;
  person_id: string;
  email: string;
  name: string | null;
  operator: boolean;
  has_password: boolean;
  second_factor: boolean;
  pending: boolean;
  expires_at: Date;
  projects: { id: string; name: string; appName: string; role: Role }[];
}

const holds = `s.expires_at > svc_now() AND s.seen_at > svc_now() - $2 * interval '1 second'`;

const load = statement(
  'person_sessions_load',
  `SELECT encode(s.token_hash, 'hex') AS hash, s.id, s.person_id, s.pending, s.expires_at, p.email, p.name, p.operator,
     p.password IS NOT NULL AS has_password,
     EXISTS (SELECT FROM second_factor f WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS second_factor,
     (SELECT coalesce(json_agg(json_build_object('id', j.id, 'name', j.name, 'appName', j.app_name, 'role', m.role)
        ORDER BY j.name), '[]')
      FROM member m JOIN project j ON j.id = m.project_id WHERE m.person_id = p.id) AS projects
   FROM person_session s JOIN person p ON p.id = s.person_id
   WHERE s.token_hash = ANY($1::bytea[]) AND ${holds}`,
);
const insert = statement(
  'person_sessions_insert',
  `INSERT INTO person_session (id, person_id, token_hash, pending, address, user_agent, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, svc_now() + $7 * interval '1 second')`,
);
const list = statement(
  'person_sessions_list',
  `SELECT s.id, s.address, s.user_agent, s.created_at, s.seen_at, s.expires_at FROM person_session s
   WHERE s.person_id = $1 AND NOT s.pending AND ${holds} ORDER BY s.id DESC`,
);
const one = statement('person_sessions_one', 'SELECT FROM person_session WHERE person_id = $1 AND id = $2');
const remove = statement(
  'person_sessions_delete',
  `DELETE FROM person_session WHERE person_id = $1 AND id = $2 RETURNING encode(token_hash, 'hex') AS hash`,
);
const removeByToken = statement(
  'person_sessions_delete_by_token',
  'DELETE FROM person_session WHERE token_hash = $1 RETURNING id',
);
const removeOthers = statement(
  'person_sessions_delete_others',
  'DELETE FROM person_session WHERE person_id = $1 AND id IS DISTINCT FROM $2::uuid',
);
const sweep = statement(
  'person_sessions_sweep',
  `DELETE FROM person_session WHERE id IN
     (SELECT id FROM person_session WHERE expires_at < svc_now() ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
);

/** Notes when sessions were used last, at most once a minute; ages in milliseconds. */
export const touchSessions = statement(
  'person_sessions_touch',
  `UPDATE person_session s SET seen_at = svc_now() - used.age * interval '1 ms'
   FROM unnest($1::uuid[], $2::float8[]) AS used(id, age)
   WHERE s.id = used.id AND s.seen_at < svc_now() - interval '1 minute'`,
);

/** By the digest of their token, in hex. */
export async function loadSessions(
  db: Queryable,
  hexes: string[],
  idleSeconds: number,
): Promise<Map<string, SessionRecord>> {
  const rows = await db.rows<SessionRecord>(load, [hexes.map((hex) => Buffer.from(hex, 'hex')), idleSeconds]);
  return new Map(rows.map((row) => [row.hash, row]));
}

export interface NewSession {
  id: string;
  personId: string;
  tokenHash: Buffer;
  pending: boolean;
  address: string | undefined;
  userAgent: string | undefined;
  lifeSeconds: number;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.rows(sweep);
  const { id, personId, tokenHash, pending, address = null, userAgent = null, lifeSeconds } = session;
  await db.rows(insert, [id, personId, tokenHash, pending, address, userAgent, lifeSeconds]);
}

export interface ListedSession {
  id: string;
  address: string | null;
  user_agent: string | null;
  created_at: Date;
  seen_at: Date;
  expires_at: Date;
}

/** Newest first. */
export function listSessions(db: Queryable, personId: string, idleSeconds: number): Promise<ListedSession[]> {
  return db.rows<ListedSession>(list, [personId, idleSeconds]);
}

export async function isSession(db: Queryable, personId: string, id: string): Promise<boolean> {
  return (await db.rows(one, [personId, id])).length > 0;
}

const hashesOf = (rows: { hash: string }[]): string[] => rows.map(({ hash }) => hash);

/** The digest of its token, or undefined when there was none. */
export async function deleteSession(
  db: Queryable,
  personId: string,
  id: string,
): Promise<string | undefined> {
  return hashesOf(await db.rows(remove, [personId, id]))[0];
}

/** That of a browser, by its token. False when there was none. */
export async function deleteSessionOf(db: Queryable, tokenHash: Buffer): Promise<boolean> {
  return (await db.rows(removeByToken, [tokenHash])).length > 0;
}

/** All but one. */
export async function deleteSessions(db: Queryable, personId: string, exceptId?: string): Promise<void> {
  await db.rows(removeOthers, [personId, exceptId ?? null]);
}

import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Role } from '../schema.ts';

export interface MemberRow {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  second_factor: boolean;
  last_seen_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const columns = `p.id, p.email, p.name, m.role, m.created_at, m.updated_at,
  EXISTS (SELECT FROM second_factor f WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS second_factor,
  (SELECT max(s.seen_at) FROM person_session s WHERE s.person_id = p.id AND NOT s.pending) AS last_seen_at`;
const from = 'FROM member m JOIN person p ON p.id = m.person_id';

const list = statement('members_list', `SELECT ${columns} ${from} WHERE m.project_id = $1 ORDER BY p.email`);
const get = statement(
  'members_get',
  `SELECT ${columns} ${from} WHERE m.project_id = $1 AND m.person_id = $2`,
);
// Held until the transaction ends, so that of two owners who take each other's role away one is refused.
const lock = statement(
  'members_lock',
  'SELECT person_id, role FROM member WHERE project_id = $1 ORDER BY person_id FOR UPDATE',
);
const hold = statement(
  'members_hold',
  'SELECT role FROM member WHERE project_id = $1 AND person_id = $2 FOR SHARE',
);
const put = statement(
  'members_put',
  `INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, $3)
   ON CONFLICT (project_id, person_id) DO UPDATE SET role = EXCLUDED.role, updated_at = svc_now()`,
);
const join = statement(
  'members_join',
  `INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, $3) ON CONFLICT (project_id, person_id) DO NOTHING
   RETURNING role`,
);
const remove = statement('members_delete', 'DELETE FROM member WHERE project_id = $1 AND person_id = $2');
const ofPerson = statement('members_of_person', 'SELECT project_id FROM member WHERE person_id = $1');
const namesOfPerson = statement(
  'members_names_of_person',
  'SELECT p.name FROM member m JOIN project p ON p.id = m.project_id WHERE m.person_id = $1',
);
const everyProject = statement(
  'members_every_project',
  'SELECT id, name FROM project ORDER BY created_at, id',
);

export function listMembers(db: Queryable, projectId: string): Promise<MemberRow[]> {
  return db.rows<MemberRow>(list, [projectId]);
}

export async function findMember(
  db: Queryable,
  projectId: string,
  personId: string,
): Promise<MemberRow | undefined> {
  return (await db.rows<MemberRow>(get, [projectId, personId]))[0];
}

export async function lockMembers(
  tx: Queryable,
  projectId: string,
): Promise<{ person_id: string; role: Role }[]> {
  return tx.rows(lock, [projectId]);
}

/** The role of a member, which nobody changes or takes away until the transaction ends. */
export async function holdMember(
  tx: Queryable,
  projectId: string,
  personId: string,
): Promise<Role | undefined> {
  return (await tx.rows<{ role: Role }>(hold, [projectId, personId]))[0]?.role;
}

export async function putMember(
  tx: Queryable,
  projectId: string,
  personId: string,
  role: Role,
): Promise<void> {
  await tx.rows(put, [projectId, personId, role]);
}

/** False for who is a member already; their role stays. */
export async function joinProject(
  tx: Queryable,
  projectId: string,
  personId: string,
  role: Role,
): Promise<boolean> {
  return (await tx.rows(join, [projectId, personId, role])).length > 0;
}

export async function deleteMember(tx: Queryable, projectId: string, personId: string): Promise<void> {
  await tx.rows(remove, [projectId, personId]);
}

export async function projectsOf(db: Queryable, personId: string): Promise<string[]> {
  return (await db.rows<{ project_id: string }>(ofPerson, [personId])).map((row) => row.project_id);
}

/** The names of the projects that they are a member of. */
export async function projectNamesOf(db: Queryable, personId: string): Promise<string[]> {
  return (await db.rows<{ name: string }>(namesOfPerson, [personId])).map(({ name }) => name);
}

export function listEveryProject(db: Queryable): Promise<{ id: string; name: string }[]> {
  return db.rows(everyProject);
}

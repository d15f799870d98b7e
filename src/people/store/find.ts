import { branch, type Found, type Reach, type Sought } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

// A project has few members, who are walked by its id.
const found = statement(
  'members_find',
  branch(`SELECT 'person' AS type, p.id::text, concat_ws(' · ', p.name, p.email) AS name
   FROM member m JOIN person p ON p.id = m.person_id
   WHERE m.project_id = $1 AND (p.id BETWEEN $2 AND $3 OR starts_with(lower(p.email), lower($4)) OR starts_with(lower(p.name), lower($4)))
   ORDER BY p.email`),
);

/** Members, for who sees the whole project: as in the list of members. */
export async function findMembers(
  db: Queryable,
  { projectId, groupRef }: Reach,
  { range, text }: Sought,
): Promise<Found[]> {
  if (groupRef !== undefined) return [];
  return db.rows<Found>(found, [projectId, range?.from ?? null, range?.to ?? null, text]);
}

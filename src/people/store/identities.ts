import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { personColumns, type PersonRow } from './persons.ts';

const find = statement(
  'person_identities_find',
  `SELECT ${personColumns} FROM person_identity d JOIN person p ON p.id = d.person_id WHERE d.issuer = $1 AND d.subject = $2`,
);
const insert = statement(
  'person_identities_insert',
  `INSERT INTO person_identity (issuer, subject, person_id) VALUES ($1, $2, $3)
   ON CONFLICT (issuer, subject) DO NOTHING RETURNING person_id`,
);

const other = statement(
  'person_identities_other',
  'SELECT FROM person_identity WHERE person_id = $1 AND issuer = $2 AND subject <> $3 LIMIT 1',
);
const removeOf = statement('person_identities_delete_of', 'DELETE FROM person_identity WHERE person_id = $1');

/** The person of an identity. */
export async function findIdentity(
  db: Queryable,
  issuer: string,
  subject: string,
): Promise<PersonRow | undefined> {
  return (await db.rows<PersonRow>(find, [issuer, subject]))[0];
}

/** False where it is somebody's already. */
export async function insertIdentity(
  tx: Queryable,
  { issuer, subject, personId }: { issuer: string; subject: string; personId: string },
): Promise<boolean> {
  return (await tx.rows(insert, [issuer, subject, personId])).length > 0;
}

/** Whether the provider knows a person by another subject. */
export async function isKnownOtherwise(
  tx: Queryable,
  { issuer, subject, personId }: { issuer: string; subject: string; personId: string },
): Promise<boolean> {
  return (await tx.rows(other, [personId, issuer, subject])).length > 0;
}

export async function deleteIdentities(tx: Queryable, personId: string): Promise<void> {
  await tx.rows(removeOf, [personId]);
}

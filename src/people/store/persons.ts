import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

export interface PersonRow {
  id: string;
  email: string;
  name: string | null;
  password: string | null;
  operator: boolean;
  /** Whether somebody vouches for the address: who invited it before there was the account, or the operator. */
  invited: boolean;
  /** Whether signing in asks for a second factor. */
  second_factor: boolean;
}

/** Of `person p`. */
export const personColumns = `p.id, p.email, p.name, p.password, p.operator, p.invited,
  EXISTS (SELECT FROM second_factor f WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS second_factor`;

const byEmail = statement('persons_by_email', `SELECT ${personColumns} FROM person p WHERE p.email = $1`);
const get = statement('persons_get', `SELECT ${personColumns} FROM person p WHERE p.id = $1`);
const hold = statement('persons_hold', 'SELECT FROM person WHERE id = $1 FOR NO KEY UPDATE');
const any = statement('persons_any', 'SELECT FROM person LIMIT 1');
const insert = statement(
  'persons_insert',
  'INSERT INTO person (id, email, name, password, invited) VALUES ($1, $2, $3, $4, $5)',
);
const setPassword = statement(
  'persons_set_password',
  'UPDATE person SET password = $2, updated_at = svc_now() WHERE id = $1',
);
// Unless it was changed meanwhile.
const rehash = statement(
  'persons_rehash',
  'UPDATE person SET password = $3 WHERE id = $1 AND password = $2 RETURNING id',
);
const setName = statement(
  'persons_set_name',
  'UPDATE person SET name = $2, updated_at = svc_now() WHERE id = $1',
);
const setInvited = statement('persons_set_invited', 'UPDATE person SET invited = true WHERE id = $1');
const makeOperator = statement(
  'persons_make_operator',
  'UPDATE person SET operator = true, updated_at = svc_now() WHERE id = $1 AND NOT operator RETURNING id',
);
const operators = statement(
  'persons_hold_operators',
  'SELECT id FROM person WHERE operator ORDER BY id FOR NO KEY UPDATE',
);
const endOperator = statement(
  'persons_end_operator',
  'UPDATE person SET operator = false, updated_at = svc_now() WHERE id = $1',
);

export async function findPersonByEmail(db: Queryable, email: string): Promise<PersonRow | undefined> {
  return (await db.rows<PersonRow>(byEmail, [email]))[0];
}

export async function findPerson(db: Queryable, id: string): Promise<PersonRow | undefined> {
  return (await db.rows<PersonRow>(get, [id]))[0];
}

/**
 * Until the transaction ends. A change of how somebody signs in holds them, too: it came before, and is seen, or comes after. Two
 * statements, since the one that waits sees other tables as they were before.
 */
export async function holdPerson(tx: Queryable, id: string): Promise<PersonRow | undefined> {
  await tx.rows(hold, [id]);
  return findPerson(tx, id);
}

export async function holdPersonByEmail(tx: Queryable, email: string): Promise<PersonRow | undefined> {
  const found = await findPersonByEmail(tx, email);
  return found && holdPerson(tx, found.id);
}

export async function isAnybodyThere(db: Queryable): Promise<boolean> {
  return (await db.rows(any)).length > 0;
}

export interface NewPerson {
  id: string;
  email: string;
  name: string | undefined;
  password: string | undefined;
  /** Whether somebody vouches for the address. */
  invited: boolean;
}

export async function insertPerson(db: Queryable, person: NewPerson): Promise<void> {
  const { id, email, name = null, password = null, invited } = person;
  await db.rows(insert, [id, email, name, password, invited]);
}

/** Without a password they sign in elsewhere. */
export async function setPersonPassword(db: Queryable, id: string, password: string | null): Promise<void> {
  await db.rows(setPassword, [id, password]);
}

/** False where it is another one already. */
export async function replaceHash(
  db: Queryable,
  id: string,
  old: string,
  password: string,
): Promise<boolean> {
  return (await db.rows(rehash, [id, old, password])).length > 0;
}

export async function setPersonName(db: Queryable, id: string, name: string | null): Promise<void> {
  await db.rows(setName, [id, name]);
}

export async function setPersonInvited(db: Queryable, id: string): Promise<void> {
  await db.rows(setInvited, [id]);
}

/** False for who is one already. */
export async function setOperator(db: Queryable, id: string): Promise<boolean> {
  return (await db.rows(makeOperator, [id])).length > 0;
}

/** Their ids. They stay what they are until the transaction ends. */
export async function holdOperators(tx: Queryable): Promise<string[]> {
  return (await tx.rows<{ id: string }>(operators)).map(({ id }) => id);
}

export async function unsetOperator(tx: Queryable, id: string): Promise<void> {
  await tx.rows(endOperator, [id]);
}

import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

export interface SecondFactorRow {
  totp_secret: Buffer;
  confirmed_at: Date | null;
  recovery_left: number;
}

// One that holds is taken away first.
const begin = statement(
  'second_factors_begin',
  `INSERT INTO second_factor AS f (person_id, totp_secret) VALUES ($1, $2)
   ON CONFLICT (person_id) DO UPDATE SET totp_secret = EXCLUDED.totp_secret, totp_step = 0 WHERE f.confirmed_at IS NULL
   RETURNING person_id`,
);
const find = statement(
  'second_factors_find',
  `SELECT totp_secret, confirmed_at, cardinality(recovery_hashes) AS recovery_left FROM second_factor WHERE person_id = $1`,
);
const confirm = statement(
  'second_factors_confirm',
  `UPDATE second_factor SET confirmed_at = svc_now(), totp_step = $2, recovery_hashes = $3
   WHERE person_id = $1 AND confirmed_at IS NULL AND totp_step < $2 RETURNING person_id`,
);
// A code is taken once, and none that is older than one that was taken.
const takeStep = statement(
  'second_factors_take_step',
  'UPDATE second_factor SET totp_step = $2 WHERE person_id = $1 AND totp_step < $2 RETURNING person_id',
);
const takeRecovery = statement(
  'second_factors_take_recovery',
  `UPDATE second_factor SET recovery_hashes = array_remove(recovery_hashes, $2)
   WHERE person_id = $1 AND confirmed_at IS NOT NULL AND $2 = ANY(recovery_hashes) RETURNING person_id`,
);
const remove = statement(
  'second_factors_delete',
  'DELETE FROM second_factor WHERE person_id = $1 RETURNING person_id',
);

const isDone = (rows: unknown[]): boolean => rows.length > 0;

/** False where one is confirmed. */
export async function beginSecondFactor(db: Queryable, personId: string, secret: Buffer): Promise<boolean> {
  return isDone(await db.rows(begin, [personId, secret]));
}

export async function findSecondFactor(
  db: Queryable,
  personId: string,
): Promise<SecondFactorRow | undefined> {
  return (await db.rows<SecondFactorRow>(find, [personId]))[0];
}

export async function confirmSecondFactor(
  db: Queryable,
  personId: string,
  step: number,
  recoveryHashes: string[],
): Promise<boolean> {
  return isDone(await db.rows(confirm, [personId, step, recoveryHashes]));
}

export async function takeTotpStep(db: Queryable, personId: string, step: number): Promise<boolean> {
  return isDone(await db.rows(takeStep, [personId, step]));
}

export async function takeRecoveryCode(db: Queryable, personId: string, hash: string): Promise<boolean> {
  return isDone(await db.rows(takeRecovery, [personId, hash]));
}

export async function deleteSecondFactor(db: Queryable, personId: string): Promise<boolean> {
  return isDone(await db.rows(remove, [personId]));
}

import { randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Queryable } from '../kit/db/database.ts';
import { sealedColumn } from '../kit/rotation.ts';
import { problem, refuse } from '../kit/problem.ts';
import { hashOf } from './browser.ts';
import { beginAttempt } from './failures.ts';
import type { NewSecondFactor, VerifyRequest } from './schema.ts';
import { nobodyWaits, type PeopleGround, type Visitor } from './sessions.ts';
import type { Entered, SignInDeps } from './sign-in.ts';
import * as store from './store/second-factors.ts';
import { newSecret, stepOf, uriOf } from './totp.ts';

const placeOf = (personId: string): string => `person/${personId}/totp_secret`;

export const sealedPeopleColumns = [
  sealedColumn({
    table: 'second_factor',
    rowId: { column: 'person_id', first: '00000000-0000-0000-0000-000000000000' },
    column: 'totp_secret',
    place: (_none, personId) => placeOf(String(personId)),
    isOfNoProject: true,
  }),
];

/** Letters and digits that are not taken for one another. */
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
const codesAtOnce = 10;

const newRecoveryCode = (): string =>
  [5, 5, 5]
    .map((length) => Array.from({ length }, () => letters[randomInt(letters.length)]).join(''))
    .join('-');

/** However it was typed. They are random and long, so that a fast hash is enough. */
const recoveryHash = (code: string): string =>
  hashOf(code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')).toString('hex');

export async function beginSecondFactor(
  { database, vault }: PeopleGround,
  { id, email }: { id: string; email: string },
): Promise<NewSecondFactor> {
  const secret = newSecret();
  if (!(await store.beginSecondFactor(database, id, vault.seal(secret, placeOf(id)))))
    throw problem('already-exists', {
      detail: 'There is a second factor.',
      remedy: 'Remove it, and set up another one.',
    });
  return { secret, uri: uriOf(secret, email) };
}

/** The recovery codes, which are shown once. From the commit of `keep` on signing in asks for a code. */
export async function confirmSecondFactor(
  ground: PeopleGround,
  personId: string,
  code: string,
  visitor: Visitor,
): Promise<{ codes: string[]; keep: (tx: Queryable) => Promise<void> }> {
  const { database } = ground;
  const attempt = await beginAttempt(database, { secondFactorOf: personId, address: visitor.address });
  const found = await store.findSecondFactor(database, personId);
  if (!found || found.confirmed_at)
    throw problem('not-found', {
      detail: 'No second factor waits to be confirmed.',
      remedy: 'Begin with one.',
    });
  const step = stepOf(secretOf(ground, personId, found), code);
  if (step === undefined) throw wrong();
  const made = Array.from({ length: codesAtOnce }, newRecoveryCode);
  await attempt.wasRight();
  const keep = async (tx: Queryable): Promise<void> => {
    if (!(await store.confirmSecondFactor(tx, personId, step, made.map(recoveryHash)))) throw wrong();
  };
  return { codes: made, keep };
}

/** Goes on where the password was right: the session becomes another one, with a token of its own. */
export async function verify(
  { ground, sessions }: SignInDeps,
  given: VerifyRequest,
  visitor: Visitor,
  headers: IncomingHttpHeaders,
): Promise<Entered> {
  const { database, log } = ground;
  if ((given.code === undefined) === (given.recoveryCode === undefined))
    throw refuse([{ in: 'body', name: 'code', detail: 'or `recoveryCode` is required, one of both' }]);
  const pending = await sessions.pending(headers);
  if (!pending) throw nobodyWaits();
  const { person_id: personId } = pending;
  const { address, requestId } = visitor;
  const attempt = await beginAttempt(database, { secondFactorOf: personId, address });
  if (!(await isTaken(ground, personId, given))) {
    log.warn({ personId, address, requestId }, 'a second factor was refused');
    throw wrong();
  }
  await attempt.wasRight();
  const opened = await sessions.open(personId, visitor, { by: 'secondFactor' });
  log.info({ personId, address, requestId, recovery: given.recoveryCode !== undefined }, 'signed in');
  return { answer: await sessions.of(opened.token), cookie: opened.cookie };
}

async function isTaken(
  ground: PeopleGround,
  personId: string,
  { code, recoveryCode }: VerifyRequest,
): Promise<boolean> {
  const { database } = ground;
  if (recoveryCode !== undefined)
    return store.takeRecoveryCode(database, personId, recoveryHash(recoveryCode));
  const found = await store.findSecondFactor(database, personId);
  const step = found?.confirmed_at ? stepOf(secretOf(ground, personId, found), code ?? '') : undefined;
  return step !== undefined && store.takeTotpStep(database, personId, step);
}

function secretOf(
  { vault }: PeopleGround,
  personId: string,
  { totp_secret: sealed }: store.SecondFactorRow,
): string {
  return vault.open(sealed, placeOf(personId)) as string;
}

function wrong(): Error {
  return problem('sign-in-refused', { detail: 'The code is wrong, or was used before.' });
}

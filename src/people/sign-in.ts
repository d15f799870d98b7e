import { problem } from '../kit/problem.ts';
import type { Passwords } from './password.ts';
import { beginAttempt } from './failures.ts';
import type { Opened, PeopleGround, Sessions, Visitor } from './sessions.ts';
import type { SignInAnswer, SignInRequest } from './schema.ts';
import { findPersonByEmail, replaceHash, type PersonRow } from './store/persons.ts';

export interface SignInDeps {
  ground: PeopleGround;
  sessions: Sessions;
  passwords: Passwords;
  /** Runs once a link of a first owner was accepted. */
  afterWelcome?: (() => Promise<void>) | undefined;
}

/** What signing in answers, and the cookie of the session. */
export interface Entered {
  answer: SignInAnswer;
  /** Absent where the browser keeps its own. */
  cookie?: string;
}

/** By e-mail address and password. Throws sign-in-refused and sign-in-slowed. */
export async function signIn(
  deps: SignInDeps,
  { email, password }: SignInRequest,
  visitor: Visitor,
): Promise<Entered> {
  const person = await checkPassword(deps, email.toLowerCase(), password, visitor);
  return enter(deps, person, visitor);
}

/** Whose the address and the password are. Who has no account, and who has no password, is answered alike and as late. */
export async function checkPassword(
  { ground: { database, log }, passwords }: SignInDeps,
  email: string,
  password: string,
  { address, requestId }: Visitor,
): Promise<PersonRow> {
  const attempt = await beginAttempt(database, { email, address });
  const person = await findPersonByEmail(database, email);
  const fits = await passwords.fits(password, person?.password);
  if (!person?.password || !fits) {
    log.warn({ address, requestId, personId: person?.id }, 'signing in was refused');
    throw problem('sign-in-refused', {
      detail: 'The e-mail address and the password do not belong together.',
    });
  }
  await attempt.wasRight();
  if (passwords.isWeak(person.password))
    await replaceHash(database, person.id, person.password, await passwords.hash(password));
  return person;
}

/** Opens a session with a token of its own: one that the browser had before is worth nothing afterwards. */
export async function enter(
  { ground: { database, log }, sessions }: SignInDeps,
  person: Pick<PersonRow, 'id' | 'second_factor'>,
  visitor: Visitor,
): Promise<Entered> {
  const pending = person.second_factor;
  const opened: Opened = await sessions.open(database, person.id, visitor, pending);
  if (pending) return { answer: { state: 'secondFactor' }, cookie: opened.cookie };
  const { address, requestId } = visitor;
  log.info({ personId: person.id, address, requestId }, 'signed in');
  return { answer: await sessions.of(opened.token), cookie: opened.cookie };
}

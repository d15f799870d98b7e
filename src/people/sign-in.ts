import type { Passwords } from './password.ts';
import { beginAttempt } from './failures.ts';
import { wrongPassword, type PeopleGround, type Proof, type Sessions, type Visitor } from './sessions.ts';
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
  return enter(deps, person.id, visitor, { by: 'password', hash: person.password });
}

/** Whose the address and the password are. Who has no account, and who has no password, is answered alike and as late. */
export async function checkPassword(
  deps: SignInDeps,
  email: string,
  password: string,
  visitor: Visitor,
): Promise<PersonRow & { password: string }> {
  const { ground, passwords } = deps;
  const { database, log } = ground;
  const { address, requestId } = visitor;
  const attempt = await beginAttempt(database, { email, address });
  const person = await findPersonByEmail(database, email);
  const fits = await passwords.fits(password, person?.password);
  if (!person?.password || !fits) {
    log.warn({ address, requestId, personId: person?.id }, 'signing in was refused');
    throw wrongPassword();
  }
  await attempt.wasRight();
  const stored = person.password;
  if (!passwords.isWeak(stored)) return { ...person, password: stored };
  const hash = await passwords.hash(password);
  if (await replaceHash(database, person.id, stored, hash)) return { ...person, password: hash };
  // Another sign-in did so meanwhile, or the password was changed.
  return checkPassword(deps, email, password, visitor);
}

/** Opens a session with a token of its own: one that the browser had before is worth nothing afterwards. */
export async function enter(
  { ground: { log }, sessions }: SignInDeps,
  personId: string,
  visitor: Visitor,
  proof: Proof,
): Promise<Entered> {
  const opened = await sessions.open(personId, visitor, proof);
  if (opened.isPending) return { answer: { state: 'secondFactor' }, cookie: opened.cookie };
  const { address, requestId } = visitor;
  log.info({ personId, address, requestId }, 'signed in');
  return { answer: await sessions.of(opened.token), cookie: opened.cookie };
}

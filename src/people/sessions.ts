import type { IncomingHttpHeaders } from 'node:http';
import { createCache } from '../kit/cache.ts';
import type { Queryable } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { newId } from '../kit/ids.ts';
import { createLookup } from '../kit/lookup.ts';
import { problem } from '../kit/problem.ts';
import { createUseLog } from '../kit/use-log.ts';
import { cookieOf, hashOf, newToken, type SessionCookie } from './browser.ts';
import { pendingSeconds } from './limits.ts';
import { scopesOf } from './roles.ts';
import type { SignedIn } from './schema.ts';
import { findIdentity } from './store/identities.ts';
import { holdPerson, type PersonRow } from './store/persons.ts';
import * as store from './store/sessions.ts';

/** From where somebody comes. */
export interface Visitor {
  address: string;
  userAgent: string | undefined;
  /** What the browser sent: the session that it had before ends with a new one. */
  cookie: string | undefined;
  requestId: string;
}

export type PeopleGround = Pick<
  Ground,
  'database' | 'log' | 'metrics' | 'vault' | 'egress' | 'publicUrl' | 'limits'
>;

/** What somebody proved. It is held against what is so when the session is opened: hashing takes its time, and a change ends only the sessions that are there. */
export type Proof =
  | { by: 'password'; hash: string }
  | { by: 'secondFactor' }
  | { by: 'provider'; issuer: string; subject: string };

/** A session that was opened, as the browser gets it. */
export interface Opened {
  cookie: string;
  token: string;
  /** Until the second factor comes. */
  isPending: boolean;
}

/** The sessions of all browsers. A change holds at once on this node, and on the others within the age of the cache. */
export interface Sessions {
  readonly cookie: SessionCookie;
  /** A session of the person with a token of its own, in place of the browser's. Throws sign-in-refused, and unauthenticated, for what holds no more. */
  open(personId: string, visitor: Visitor, proof: Proof): Promise<Opened>;
  /** Of the cookie, while it holds and is not pending; it rests on where nobody attends. Throws unauthenticated. */
  require(headers: IncomingHttpHeaders, isUnattended: boolean): Promise<store.SessionRecord>;
  /** The same where nobody attends, read now: a change that somebody just heard of may be younger than the cache. */
  requireNow(headers: IncomingHttpHeaders): Promise<store.SessionRecord>;
  /** The one that waits for its second factor, read now. */
  pending(headers: IncomingHttpHeaders): Promise<store.SessionRecord | undefined>;
  /** Read now, for the answer to who opened it. */
  of(token: string): Promise<SignedIn>;
  /** The same, by the digest of its token. */
  again(hash: string): Promise<SignedIn>;
  /** After they were ended or changed, by the digests of their tokens. */
  forget(hashes: readonly string[]): void;
  /** After something of the person changed that sessions carry. */
  forgetPerson(personId: string): void;
  close(): Promise<void>;
}

const over = (detail: string): Error => problem('unauthenticated', { detail, remedy: 'Sign in again.' });

export const sessionIsOver = (): Error => over('The session is over, or was ended.');

export function createSessions(ground: PeopleGround): Sessions {
  const { database, publicUrl, limits } = ground;
  const idleSeconds = limits.sessionIdleMinutes * 60;
  const lifeSeconds = limits.sessionHours * 3600;
  const cookie = cookieOf(publicUrl);
  const uses = createUseLog(ground, store.touchSessions);
  const load = (hashes: string[]): ReturnType<typeof store.loadSessions> =>
    store.loadSessions(database, hashes, idleSeconds);
  const cache = createCache({ load: createLookup(load) });
  const hexOf = (token: string): string => hashOf(token).toString('hex');

  async function again(hash: string): Promise<SignedIn> {
    const session = (await load([hash])).get(hash);
    if (!session) throw over('The session was ended at once.');
    return presentSession(session);
  }
  const forget = (hashes: readonly string[]): void => {
    for (const hash of hashes) cache.invalidate(hash);
  };
  async function require(headers: IncomingHttpHeaders, isUnattended: boolean): Promise<store.SessionRecord> {
    const token = cookie.read(headers);
    if (token === undefined) throw over('Nobody is signed in.');
    const session = await cache.get(hexOf(token));
    if (!session) throw sessionIsOver();
    if (session.pending) throw over('The second factor is still to come.');
    if (!isUnattended) uses.note(session.id);
    return session;
  }
  return {
    cookie,
    async open(personId, visitor, proof) {
      const former = cookie.read({ cookie: visitor.cookie });
      const token = newToken();
      const isPending = await database.transaction((tx) =>
        replaceSession(tx, { personId, visitor, proof, token, former, lifeSeconds }),
      );
      if (former !== undefined) forget([hexOf(former)]);
      return { token, isPending, cookie: cookie.keep(token, isPending ? pendingSeconds : lifeSeconds) };
    },
    require,
    requireNow(headers) {
      const token = cookie.read(headers);
      if (token !== undefined) cache.expire(hexOf(token));
      return require(headers, true);
    },
    async pending(headers) {
      const token = cookie.read(headers);
      if (token === undefined) return undefined;
      const session = (await load([hexOf(token)])).get(hexOf(token));
      return session?.pending ? session : undefined;
    },
    of: (token) => again(hexOf(token)),
    again,
    forget,
    forgetPerson: (id) => cache.invalidateWhere(({ person_id: whose }) => whose === id.toLowerCase()),
    close: async () => {
      cache.close();
      await uses.close();
    },
  };
}

interface Opening {
  personId: string;
  visitor: Visitor;
  proof: Proof;
  token: string;
  /** Of the session that the browser had. */
  former: string | undefined;
  lifeSeconds: number;
}

/** Whether the new session waits for a second factor. */
async function replaceSession(
  tx: Queryable,
  { personId, visitor: { address, userAgent }, proof, token, former, lifeSeconds }: Opening,
): Promise<boolean> {
  const person = await holdPerson(tx, personId);
  const hadOne = former !== undefined && (await store.deleteSessionOf(tx, hashOf(former)));
  if (proof.by === 'password') assertPassword(person, proof.hash);
  if (proof.by === 'secondFactor' && !hadOne) throw nobodyWaits();
  if (proof.by === 'provider') {
    const known = await findIdentity(tx, proof.issuer, proof.subject);
    if (known?.id !== personId) throw noLongerKnown();
  }
  const pending = proof.by === 'password' && person?.second_factor === true;
  const times = { pending, lifeSeconds: pending ? pendingSeconds : lifeSeconds };
  const made = { id: newId(), personId, tokenHash: hashOf(token), ...times };
  await store.insertSession(tx, { ...made, address, userAgent: userAgent?.slice(0, 400) });
  return pending;
}

/** Throws sign-in-refused where the password is not the one that was proved. */
export function assertPassword(person: PersonRow | undefined, hash: string): void {
  if (person?.password !== hash) throw wrongPassword();
}

export const wrongPassword = (): Error =>
  problem('sign-in-refused', { detail: 'The e-mail address and the password do not belong together.' });

const noLongerKnown = (): Error =>
  problem('sign-in-refused', { detail: 'The account there is no longer that of the person here.' });

export const nobodyWaits = (): Error =>
  problem('unauthenticated', {
    detail: 'Nobody waits for a second factor here.',
    remedy: 'Sign in with the password first.',
  });

export function presentSession(session: store.SessionRecord): SignedIn {
  return {
    state: 'signedIn',
    person: {
      id: session.person_id,
      email: session.email,
      ...(session.name === null ? {} : { name: session.name }),
      operator: session.operator,
      secondFactor: session.second_factor,
      hasPassword: session.has_password,
    },
    projects: session.projects.map((project) => ({ ...project, scopes: [...scopesOf[project.role]] })),
    sessionId: session.id,
    expiresAt: session.expires_at.toISOString(),
  };
}

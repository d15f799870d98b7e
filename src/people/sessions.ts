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

/** A session that was opened, as the browser gets it. */
export interface Opened {
  cookie: string;
  token: string;
}

/** The sessions of all browsers. A change holds at once on this node, and on the others within the age of the cache. */
export interface Sessions {
  readonly cookie: SessionCookie;
  /** A session of the person with a token of its own, in place of the browser's; `pending`: until the second factor comes. */
  open(db: Queryable, personId: string, visitor: Visitor, pending: boolean): Promise<Opened>;
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
    if (!session) throw over('The session is over, or was ended.');
    if (session.pending) throw over('The second factor is still to come.');
    if (!isUnattended) uses.note(session.id);
    return session;
  }
  return {
    cookie,
    async open(db, personId, { address, userAgent, cookie: sent }, pending) {
      const former = cookie.read({ cookie: sent });
      if (former !== undefined && (await store.deleteSessionOf(db, hashOf(former)))) forget([hexOf(former)]);
      const token = newToken();
      const life = pending ? pendingSeconds : lifeSeconds;
      const made = { id: newId(), personId, tokenHash: hashOf(token), pending, lifeSeconds: life };
      await store.insertSession(db, { ...made, address, userAgent: userAgent?.slice(0, 400) });
      return { token, cookie: cookie.keep(token, life) };
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

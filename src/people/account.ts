import { record } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { isId } from '../kit/ids.ts';
import { problem } from '../kit/problem.ts';
import type { SignedInPerson } from '../projects/index.ts';
import { assertFit } from './password-rules.ts';
import type { NewSecondFactor, PasswordChange, Session } from './schema.ts';
import { beginSecondFactor, confirmSecondFactor } from './second-factor.ts';
import { sessionIsOver, type Visitor } from './sessions.ts';
import { checkPassword, type SignInDeps } from './sign-in.ts';
import { deleteResets } from './store/invitations.ts';
import { projectNamesOf, projectsOf } from './store/members.ts';
import * as persons from './store/persons.ts';
import { deleteSecondFactor } from './store/second-factors.ts';
import * as sessionStore from './store/sessions.ts';

/** What somebody does with their own account. A change of how they sign in ends their other sessions, and links for a new password. */
export interface Account {
  sessions(who: SignedInPerson): Promise<Session[]>;
  endSession(who: SignedInPerson, sessionId: string): Promise<void>;
  rename(who: SignedInPerson, name: string | null): Promise<void>;
  /** Throws sign-in-refused and password-unfit. */
  changePassword(who: SignedInPerson, change: PasswordChange, visitor: Visitor): Promise<void>;
  beginSecondFactor(
    who: SignedInPerson,
    password: string | undefined,
    visitor: Visitor,
  ): Promise<NewSecondFactor>;
  confirmSecondFactor(who: SignedInPerson, code: string, visitor: Visitor): Promise<string[]>;
  removeSecondFactor(who: SignedInPerson, password: string | undefined, visitor: Visitor): Promise<void>;
}

export function createAccount(deps: SignInDeps): Account {
  const { ground, sessions, passwords } = deps;
  const { database } = ground;

  /** Changes how somebody signs in, is written down in each of their projects, and ends other ways in: sessions, links for a new password. */
  async function secure(
    who: SignedInPerson,
    details: Record<string, unknown>,
    work: (tx: Queryable) => Promise<unknown>,
  ): Promise<void> {
    await database.transaction(async (tx) => {
      await persons.holdPerson(tx, who.id);
      // Another change may have ended it since the request came.
      if (!(await sessionStore.isSession(tx, who.id, who.sessionId))) throw sessionIsOver();
      await work(tx);
      await recordForPerson(tx, who.id, details);
      await sessionStore.deleteSessions(tx, who.id, who.sessionId);
      await deleteResets(tx, who.id);
    });
    sessions.forgetPerson(who.id);
  }

  return {
    async sessions({ id, sessionId }) {
      const rows = await sessionStore.listSessions(database, id, ground.limits.sessionIdleMinutes * 60);
      return rows.map((row) => presentListed(row, sessionId));
    },
    async endSession({ id }, sessionId) {
      const hash = isId(sessionId) ? await sessionStore.deleteSession(database, id, sessionId) : undefined;
      if (hash === undefined) throw problem('not-found', { detail: 'There is no such session of yours.' });
      sessions.forget([hash]);
    },
    async rename({ id }, name) {
      await persons.setPersonName(database, id, name);
      sessions.forgetPerson(id);
    },
    async changePassword(who, { currentPassword, newPassword }, visitor) {
      await prove(deps, who, currentPassword, visitor);
      assertFit(newPassword, who.email, await projectNamesOf(database, who.id));
      const hash = await passwords.hash(newPassword);
      await secure(who, { password: 'changed' }, (tx) => persons.setPersonPassword(tx, who.id, hash));
    },
    async beginSecondFactor(who, password, visitor) {
      await prove(deps, who, password, visitor);
      return beginSecondFactor(ground, who);
    },
    async confirmSecondFactor(who, code, visitor) {
      const { codes, keep } = await confirmSecondFactor(ground, who.id, code, visitor);
      await secure(who, { secondFactor: 'set up' }, keep);
      return codes;
    },
    async removeSecondFactor(who, password, visitor) {
      await prove(deps, who, password, visitor);
      await secure(who, { secondFactor: 'removed' }, async (tx) => {
        if (!(await deleteSecondFactor(tx, who.id)))
          throw problem('not-found', { detail: 'There is no second factor.' });
      });
    },
  };
}

/** Asked for again before what would let somebody else in, or shut its owner out. Who has no password proved themselves elsewhere. */
async function prove(
  deps: SignInDeps,
  { id, email }: SignedInPerson,
  password: string | undefined,
  visitor: Visitor,
): Promise<void> {
  const person = await persons.findPerson(deps.ground.database, id);
  if (person?.password === null) return;
  await checkPassword(deps, email, password ?? '', visitor);
}

/** How somebody signs in concerns each of their projects. */
export async function recordForPerson(
  tx: Queryable,
  personId: string,
  details: Record<string, unknown>,
): Promise<void> {
  for (const projectId of await projectsOf(tx, personId))
    await record(tx, { projectId, action: 'person.updated', targetId: personId, details });
}

function presentListed(row: sessionStore.ListedSession, currentId: string): Session {
  return {
    id: row.id,
    isCurrent: row.id === currentId,
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.user_agent === null ? {} : { userAgent: row.user_agent }),
    lastSeenAt: row.seen_at.toISOString(),
    createTime: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

import type { IncomingHttpHeaders } from 'node:http';
import { currentActor } from '../events/index.ts';
import { isAnybodyThere } from './store/persons.ts';
import { isTaken } from '../kit/db/faults.ts';
import { problem } from '../kit/problem.ts';
import type { Projects } from '../projects/index.ts';
import { createAccount, type Account } from './account.ts';
import { accept, lookAt } from './invitations.ts';
import { createMembers, type Members } from './members.ts';
import { createPasswords, type Passwords } from './password.ts';
import {
  createSessions,
  presentSession,
  type PeopleGround,
  type Sessions,
  type Visitor,
} from './sessions.ts';
import { verify } from './second-factor.ts';
import { createSignInElsewhere, type SignInElsewhere } from './oidc/sign-in.ts';
import type { OidcSettings } from './oidc/settings.ts';
import { signIn, type Entered } from './sign-in.ts';
import type {
  AcceptInvitationRequest,
  InvitationLook,
  SignedIn,
  SignInOptions,
  SignInRequest,
  VerifyRequest,
} from './schema.ts';
import { putMember } from './store/members.ts';
import { deleteSession } from './store/sessions.ts';
import { principalOfVisit } from './visits.ts';

/** Who signs in with a browser, and what they may do. */
export interface People {
  readonly publicUrl: string;
  readonly sessions: Sessions;
  readonly account: Account;
  readonly members: Members;
  readonly elsewhere: SignInElsewhere;
  options(): Promise<SignInOptions>;
  signIn(request: SignInRequest, visitor: Visitor): Promise<Entered>;
  /** Throws unauthenticated where nobody waits for it, and sign-in-refused. */
  verify(request: VerifyRequest, visitor: Visitor, headers: IncomingHttpHeaders): Promise<Entered>;
  signOut(personId: string, sessionId: string): Promise<void>;
  /** Who is signed in. Throws unauthenticated. */
  whoIs(headers: IncomingHttpHeaders): Promise<SignedIn>;
  lookAt(token: string): Promise<InvitationLook>;
  accept(request: AcceptInvitationRequest, visitor: Visitor, headers: IncomingHttpHeaders): Promise<Entered>;
  close(): Promise<void>;
}

export interface PeopleDeps {
  ground: PeopleGround;
  projects: Projects;
  /** Where people may sign in, too. */
  oidc?: OidcSettings | undefined;
  passwords?: Passwords;
  /** Somebody came by the link of a first owner: what keeps it may go. */
  afterWelcome?: () => Promise<void>;
}

export function createPeople(given: PeopleDeps): People {
  const { ground, projects, oidc, passwords = createPasswords(), afterWelcome } = given;
  const { database, publicUrl } = ground;
  const sessions = createSessions(ground);
  const deps = { ground, sessions, passwords, afterWelcome };
  const elsewhere = createSignInElsewhere(deps, oidc);
  projects.askForVisitorsBy((visit) => principalOfVisit(sessions, publicUrl, visit));
  // Who makes a project owns it.
  projects.afterCreate(async (tx, projectId) => {
    const { personId } = currentActor();
    if (personId === undefined) return undefined;
    await putMember(tx, projectId, personId, 'owner');
    return () => sessions.forgetPerson(personId);
  });
  return {
    publicUrl,
    sessions,
    account: createAccount(deps),
    members: createMembers(ground, sessions),
    elsewhere,
    options: async () => {
      const option = elsewhere.option();
      return { ...(option ? { oidc: option } : {}), hasPeople: await isAnybodyThere(database) };
    },
    signIn: (request, visitor) => signIn(deps, request, visitor),
    verify: (request, visitor, headers) => verify(deps, request, visitor, headers),
    async signOut(personId, sessionId) {
      const hash = await deleteSession(database, personId, sessionId);
      if (hash !== undefined) sessions.forget([hash]);
    },
    whoIs: async (headers) => presentSession(await sessions.requireNow(headers)),
    lookAt: (token) => lookAt(deps, token),
    accept: async (request, visitor, headers) => {
      const current = await sessions.require(headers, false).catch(() => undefined);
      try {
        return await accept(deps, request, visitor, current);
      } catch (error) {
        if (!isTaken(error)) throw error;
        throw problem('already-exists', {
          detail: 'An account with this e-mail address was made at the same moment.',
          remedy: 'Accept the link again, with the password of that account.',
          cause: error,
        });
      }
    },
    close: () => sessions.close(),
  };
}

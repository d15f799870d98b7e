import { currentActor, record } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { isId, newId } from '../kit/ids.ts';
import { listOrPage } from '../kit/paging.ts';
import type { OptionalPageQuery, Page } from '../kit/paging-schema.ts';
import { problem } from '../kit/problem.ts';
import { hashOf, newToken } from './browser.ts';
import { invitationSeconds } from './limits.ts';
import type { Invitation, InvitationRequest, Member, Role } from './schema.ts';
import type { PeopleGround, Sessions } from './sessions.ts';
import * as invitations from './store/invitations.ts';
import * as store from './store/members.ts';
import { findPersonByEmail } from './store/persons.ts';
import { linkOf } from './welcome.ts';

/** Who may do what in a project. A change holds for sessions at once on this node, and on the others within a second. */
export interface Members {
  list(projectId: string): Promise<Member[]>;
  /** Throws last-owner. */
  update(projectId: string, personId: string, role: Role): Promise<Member>;
  /** Throws last-owner. */
  remove(projectId: string, personId: string): Promise<void>;
  /** `url` is shown in this answer and nowhere else. Throws already-exists for who is a member. */
  invite(projectId: string, request: InvitationRequest): Promise<Invitation>;
  invitations(projectId: string, query: OptionalPageQuery): Promise<Invitation[] | Page<Invitation>>;
  takeBack(projectId: string, invitationId: string): Promise<void>;
}

export function createMembers(ground: PeopleGround, sessions: Sessions): Members {
  return { ...roles(ground, sessions), ...inviting(ground) };
}

/** The member, with all members of the project held. */
async function held(
  tx: Queryable,
  projectId: string,
  personId: string,
): Promise<{ role: Role; owners: number }> {
  const members = await store.lockMembers(tx, projectId);
  const found = members.find((member) => member.person_id === personId.toLowerCase());
  if (!found) throw absent('member', personId);
  return { role: found.role, owners: members.filter(({ role }) => role === 'owner').length };
}

function roles({ database }: PeopleGround, sessions: Sessions): Pick<Members, 'list' | 'update' | 'remove'> {
  return {
    list: async (projectId) => (await store.listMembers(database, projectId)).map(presentMember),
    async update(projectId, personId, role) {
      const changed = await database.transaction(async (tx) => {
        const before = await held(tx, projectId, personId);
        if (before.role === 'owner' && role !== 'owner') assertOther(before.owners);
        await store.putMember(tx, projectId, personId, role);
        if (role !== 'owner') await invitations.deleteInvitationsBy(tx, projectId, personId);
        const details = { role: { before: before.role, after: role } };
        await record(tx, { projectId, action: 'member.updated', targetId: personId, details });
        return store.findMember(tx, projectId, personId);
      });
      sessions.forgetPerson(personId);
      if (!changed) throw absent('member', personId);
      return presentMember(changed);
    },
    async remove(projectId, personId) {
      await database.transaction(async (tx) => {
        // Before the members are held: who accepts an invitation holds it, and then becomes one.
        if (isId(personId)) await invitations.deleteInvitationsFor(tx, projectId, personId);
        const { role, owners } = await held(tx, projectId, personId);
        if (role === 'owner') assertOther(owners);
        await store.deleteMember(tx, projectId, personId);
        await invitations.deleteInvitationsBy(tx, projectId, personId);
        await record(tx, { projectId, action: 'member.removed', targetId: personId, details: { role } });
      });
      sessions.forgetPerson(personId);
    },
  };
}

function inviting({
  database,
  publicUrl,
}: PeopleGround): Pick<Members, 'invite' | 'invitations' | 'takeBack'> {
  return {
    async invite(projectId, given) {
      const email = given.email.toLowerCase();
      const known = await findPersonByEmail(database, email);
      if (known && (await store.findMember(database, projectId, known.id)))
        throw problem('already-exists', { detail: `${email} is a member of the project.` });
      const token = newToken();
      const { role } = given;
      const made = { id: newId(), projectId, email, role, invitedBy: currentActor().email };
      const times = await database.transaction(async (tx) => {
        await assertOwns(tx, projectId, currentActor().personId);
        await record(tx, {
          projectId,
          action: 'invitation.created',
          targetId: made.id,
          details: { email, role },
        });
        const invitation = { ...made, tokenHash: hashOf(token), lifeSeconds: invitationSeconds };
        return invitations.insertInvitation(tx, invitation);
      });
      const row = { ...made, invited_by: made.invitedBy ?? null, ...times };
      return { ...presentInvitation(row), url: linkOf(publicUrl, 'invitation', token) };
    },
    invitations: (projectId, query) =>
      listOrPage(
        query,
        (slice) => invitations.listInvitations(database, projectId, slice),
        (rows) => rows.map(presentInvitation),
      ),
    async takeBack(projectId, id) {
      await database.transaction(async (tx) => {
        const email = isId(id) ? await invitations.deleteInvitation(tx, projectId, id) : undefined;
        if (email === undefined) throw absent('invitation', id);
        await record(tx, { projectId, action: 'invitation.deleted', targetId: id, details: { email } });
      });
    },
  };
}

/** Holds the owner until the commit: who is removed or lowered in the same moment leaves no invitation behind. An API key is no member. */
async function assertOwns(tx: Queryable, projectId: string, personId: string | undefined): Promise<void> {
  if (personId === undefined || (await store.holdMember(tx, projectId, personId)) === 'owner') return;
  throw problem('forbidden', {
    detail: 'Only an owner of the project invites others to it.',
    remedy: 'Ask an owner of the project.',
  });
}

function assertOther(owners: number): void {
  if (owners < 2) throw problem('last-owner');
}

function absent(what: string, id: string): Error {
  return problem('not-found', {
    detail: `There is no ${what} ${JSON.stringify(id.slice(0, 64))} in this project.`,
  });
}

function presentMember(row: store.MemberRow): Member {
  return {
    id: row.id,
    email: row.email,
    ...(row.name === null ? {} : { name: row.name }),
    role: row.role,
    secondFactor: row.second_factor,
    ...(row.last_seen_at === null ? {} : { lastSeenAt: row.last_seen_at.toISOString() }),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}

type ShownInvitation = Pick<
  invitations.InvitationRow,
  'id' | 'email' | 'role' | 'invited_by' | 'created_at' | 'expires_at'
>;

function presentInvitation(row: ShownInvitation): Invitation {
  return {
    id: row.id,
    email: row.email ?? '',
    role: row.role ?? 'viewer',
    ...(row.invited_by === null ? {} : { invitedBy: row.invited_by }),
    expiresAt: row.expires_at.toISOString(),
    createTime: row.created_at.toISOString(),
  };
}

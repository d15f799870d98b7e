import { actAs, record, type Actor } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { problem, refuse } from '../kit/problem.ts';
import { recordForPerson } from './account.ts';
import { hashOf } from './browser.ts';
import { assertFit } from './password-rules.ts';
import { checkPassword, enter, type Entered, type SignInDeps } from './sign-in.ts';
import type { AcceptInvitationRequest, InvitationLook } from './schema.ts';
import { assertPassword, type Visitor } from './sessions.ts';
import { deleteSecondFactor } from './store/second-factors.ts';
import { deleteIdentities } from './store/identities.ts';
import { findInvitation, takeInvitation, type InvitationRow } from './store/invitations.ts';
import { joinProject, listEveryProject, lockMembers, projectNamesOf, putMember } from './store/members.ts';
import * as persons from './store/persons.ts';
import { deleteSessions, type SessionRecord } from './store/sessions.ts';

/** What a link is for. Throws invitation-over. */
export async function lookAt({ ground: { database } }: SignInDeps, token: string): Promise<InvitationLook> {
  const row = await holding(database, token);
  const person = await personOf(database, row);
  const email = person?.email ?? row.email;
  return {
    kind: kindOf(row),
    ...(email === null || email === undefined ? {} : { email }),
    ...(row.role === null ? {} : { role: row.role }),
    ...(row.project_name === null
      ? {}
      : { project: { name: row.project_name, appName: row.app_name ?? '' } }),
    isKnown: person !== undefined,
    expiresAt: row.expires_at.toISOString(),
  };
}

function kindOf({ person_id: personId, project_id: projectId }: InvitationRow): InvitationLook['kind'] {
  if (personId !== null) return 'reset';
  return projectId === null ? 'welcome' : 'invitation';
}

async function holding(db: Queryable, token: string): Promise<InvitationRow> {
  const row = await findInvitation(db, hashOf(token));
  if (!row || (row.project_id !== null && row.project_name === null)) throw problem('invitation-over');
  return row;
}

async function personOf(db: Queryable, row: InvitationRow): Promise<persons.PersonRow | undefined> {
  if (row.person_id !== null) return persons.findPerson(db, row.person_id);
  return row.email === null ? undefined : persons.findPersonByEmail(db, row.email);
}

/**
 * Accepts a link and signs in. `signedIn`: the session of the browser; its person needs no password. Throws invitation-over,
 * password-unfit, and sign-in-refused for who has an account and does not prove that it is theirs.
 */
export async function accept(
  deps: SignInDeps,
  { token, ...given }: AcceptInvitationRequest,
  visitor: Visitor,
  signedIn?: SessionRecord,
): Promise<Entered> {
  const row = await holding(deps.ground.database, token);
  const entered = await acceptRow(deps, row, given, visitor, signedIn);
  if (kindOf(row) === 'welcome') await deps.afterWelcome?.();
  return entered;
}

async function acceptRow(
  deps: SignInDeps,
  row: InvitationRow,
  { name, password, ...given }: Omit<AcceptInvitationRequest, 'token'>,
  visitor: Visitor,
  signedIn?: SessionRecord,
): Promise<Entered> {
  const { ground, passwords, sessions } = deps;
  const { email, known } = await whose(ground.database, row, given.email);
  if (known && kindOf(row) !== 'reset') {
    const isOwn = known.id === signedIn?.person_id;
    const proved = isOwn ? undefined : await checkPassword(deps, known.email, required(password), visitor);
    await inOwnName(known, visitor, () =>
      ground.database.transaction(async (tx) => {
        await take(tx, row);
        if (proved) assertPassword(await persons.holdPerson(tx, known.id), proved.password);
        await join(tx, row, known.id);
      }),
    );
    sessions.forgetPerson(known.id);
    if (!proved) return { answer: await sessions.again(signedIn?.hash ?? '') };
    return enter(deps, known.id, visitor, { by: 'password', hash: proved.password });
  }
  assertFit(required(password), email, await projectNames(ground.database, row, known));
  const hash = await passwords.hash(required(password));
  if (known) return reset(deps, row, { ...known, hash }, visitor);
  const person = { id: newId(), email, name, password: hash, invited: row.email !== null };
  await inOwnName(person, visitor, () =>
    ground.database.transaction(async (tx) => {
      // First, so that of two who accept one link the later finds it over.
      await take(tx, row);
      await persons.insertPerson(tx, person);
      await join(tx, row, person.id);
    }),
  );
  return enter(deps, person.id, visitor, { by: 'password', hash });
}

function required(password: string | undefined): string {
  if (password !== undefined) return password;
  throw refuse([{ in: 'body', name: 'password', detail: 'is required here' }]);
}

/** Who a link is for. The address of the request counts only where the link names nobody. Throws invitation-over. */
async function whose(
  db: Queryable,
  row: InvitationRow,
  given: string | undefined,
): Promise<{ email: string; known?: persons.PersonRow | undefined }> {
  if (row.person_id !== null) {
    const known = await persons.findPerson(db, row.person_id);
    if (!known) throw problem('invitation-over');
    return { email: known.email, known };
  }
  const email = (row.email ?? given)?.toLowerCase();
  if (email === undefined)
    throw refuse([{ in: 'body', name: 'email', detail: 'is required, since the link names none' }]);
  return { email, known: await persons.findPersonByEmail(db, email) };
}

/** Of what they are a member of, or will be by the link. */
async function projectNames(
  db: Queryable,
  row: InvitationRow,
  known: persons.PersonRow | undefined,
): Promise<string[]> {
  if (known) return projectNamesOf(db, known.id);
  if (row.project_name !== null) return [row.project_name];
  return (await listEveryProject(db)).map(({ name }) => name);
}

/** A new password ends all sessions, the second factor, which may be what was lost, and who the person was elsewhere. */
async function reset(
  deps: SignInDeps,
  row: InvitationRow,
  person: persons.PersonRow & { hash: string },
  visitor: Visitor,
): Promise<Entered> {
  await inOwnName(person, visitor, () =>
    deps.ground.database.transaction(async (tx) => {
      // Before the link is taken, as by all who delete it.
      await persons.holdPerson(tx, person.id);
      await take(tx, row);
      await persons.setPersonPassword(tx, person.id, person.hash);
      await deleteSecondFactor(tx, person.id);
      await deleteIdentities(tx, person.id);
      await recordForPerson(tx, person.id, { password: 'reset', secondFactor: 'removed' });
      await deleteSessions(tx, person.id);
    }),
  );
  deps.sessions.forgetPerson(person.id);
  return enter(deps, person.id, visitor, { by: 'password', hash: person.hash });
}

async function take(tx: Queryable, { id }: InvitationRow): Promise<void> {
  if (!(await takeInvitation(tx, id))) throw problem('invitation-over');
}

export async function joinBy(tx: Queryable, row: InvitationRow, personId: string): Promise<void> {
  await take(tx, row);
  await join(tx, row, personId);
}

/** The project of the invitation, where a member keeps their role, or, by the link of the first owner, every project. */
async function join(tx: Queryable, row: InvitationRow, personId: string): Promise<void> {
  if (row.project_id === null) return joinEverywhere(tx, row, personId);
  await joinOne(tx, row, personId, row.project_id);
}

async function joinEverywhere(tx: Queryable, row: InvitationRow, personId: string): Promise<void> {
  if (row.email !== null) await persons.setPersonInvited(tx, personId);
  const isNew = await persons.setOperator(tx, personId);
  for (const { id: projectId } of await listEveryProject(tx))
    if (!(await joinOne(tx, row, personId, projectId))) await makeOwner(tx, projectId, personId);
  if (isNew) await recordForPerson(tx, personId, { operator: true });
}

/** False for who is a member already. */
async function joinOne(
  tx: Queryable,
  row: InvitationRow,
  personId: string,
  projectId: string,
): Promise<boolean> {
  const role = row.role ?? 'viewer';
  if (!(await joinProject(tx, projectId, personId, role))) return false;
  const details = { role, ...(row.invited_by === null ? {} : { invitedBy: row.invited_by }) };
  await record(tx, { projectId, action: 'member.joined', targetId: personId, details });
  return true;
}

async function makeOwner(tx: Queryable, projectId: string, personId: string): Promise<void> {
  const before = (await lockMembers(tx, projectId)).find(({ person_id: id }) => id === personId);
  if (before?.role === 'owner') return;
  await putMember(tx, projectId, personId, 'owner');
  const details = { role: { before: before?.role, after: 'owner' } };
  await record(tx, { projectId, action: 'member.updated', targetId: personId, details });
}

/** Who accepts is who acts. */
export function inOwnName<T>(
  { id, email }: { id: string; email: string },
  { address, requestId }: Visitor,
  work: () => Promise<T>,
): Promise<T> {
  const actor: Actor = { kind: 'person', personId: id, email, address, requestId };
  return actAs(actor, work);
}

import type { Queryable } from '../../kit/db/database.ts';
import { isTaken } from '../../kit/db/faults.ts';
import { newId } from '../../kit/ids.ts';
import { recordForPerson } from '../account.ts';
import { inOwnName, joinBy } from '../invitations.ts';
import type { PeopleGround, Visitor } from '../sessions.ts';
import { findIdentity, insertIdentity, isKnownOtherwise } from '../store/identities.ts';
import { deleteResets, lockInvitationsFor } from '../store/invitations.ts';
import * as persons from '../store/persons.ts';
import { deleteSecondFactor } from '../store/second-factors.ts';
import { deleteSessions } from '../store/sessions.ts';
import type { Identity } from './provider.ts';

/** Whose an identity is; or why it is nobody's, and what its operator is told of it. */
export type Whose = { person: persons.PersonRow } | { refused: 'unverified' | 'uninvited'; why?: Error };

/**
 * An identity that is known is its person's. Another one becomes that of the person with its verified address, where somebody
 * vouches for that address, and accepts the invitations that wait for it. A project vouches for whom it brings, and not for an
 * account that was there: that may reach more than the project. A person whom the provider knows by another subject is not this one:
 * an address may be given to somebody else.
 */
export async function whose(ground: PeopleGround, identity: Identity, visitor: Visitor): Promise<Whose> {
  const { database } = ground;
  const known = await findIdentity(database, identity.issuer, identity.subject);
  if (known) return { person: known };
  const { email } = identity;
  if (email === undefined) return { refused: 'unverified' };
  const join = (): Promise<Whose> => joinAs(ground, { ...identity, email }, visitor);
  // Somebody else accepted an invitation for the address at the same moment: the person is there now.
  return join().catch((error: unknown) => {
    if (isTaken(error)) return join();
    throw error;
  });
}

async function joinAs(
  { database }: PeopleGround,
  identity: Identity & { email: string },
  visitor: Visitor,
): Promise<Whose> {
  const { email, name } = identity;
  const id = (await persons.findPersonByEmail(database, email))?.id ?? newId();
  return inOwnName({ id, email }, visitor, () =>
    database.transaction(async (tx) => {
      // Held, so that of two answers for one identity one waits for the other.
      const invitations = await lockInvitationsFor(tx, email);
      const before = await persons.holdPersonByEmail(tx, email);
      const byOperator = invitations.some((invitation) => invitation.project_id === null);
      const isVouchedFor = before ? before.invited || byOperator : invitations.length > 0;
      if (!isVouchedFor) return { refused: 'uninvited' };
      if (before && (await isKnownOtherwise(tx, { ...identity, personId: before.id })))
        return { refused: 'uninvited', why: knownOtherwise(email) };
      if (before) await takeOver(tx, before);
      else await persons.insertPerson(tx, { id, email, name, password: undefined, invited: true });
      const personId = before?.id ?? id;
      for (const invitation of invitations) await joinBy(tx, invitation, personId);
      await link(tx, identity, personId);
      const person = await findIdentity(tx, identity.issuer, identity.subject);
      return person ? { person } : { refused: 'uninvited' };
    }),
  );
}

const knownOtherwise = (email: string): Error =>
  new Error(
    `the provider knows ${email} by another subject; if it is the same person, they forget it by the link of svc people reset --email ${email}`,
  );

/**
 * The address is proven for the first time. Who accepted the invitation need not have been its person: whoever made it has the link.
 * So what they chose and began ends, before the rights of the invitations that wait come in.
 */
async function takeOver(tx: Queryable, person: persons.PersonRow): Promise<void> {
  await deleteResets(tx, person.id);
  if (person.password === null) return;
  await persons.setPersonPassword(tx, person.id, null);
  await deleteSecondFactor(tx, person.id);
  await recordForPerson(tx, person.id, { password: 'removed', secondFactor: 'removed' });
  await deleteSessions(tx, person.id);
}

async function link(tx: Queryable, { issuer, subject }: Identity, personId: string): Promise<void> {
  if (await insertIdentity(tx, { issuer, subject, personId }))
    await recordForPerson(tx, personId, { identity: { issuer } });
}

import { actAs } from '../events/index.ts';
import type { Database, Queryable } from '../kit/db/database.ts';
import { newId } from '../kit/ids.ts';
import { recordForPerson } from './account.ts';
import { hashOf, newToken } from './browser.ts';
import { invitationSeconds, resetSeconds } from './limits.ts';
import { insertInvitation, isWelcomeOut, lockWelcome } from './store/invitations.ts';
import { findPersonByEmail, isAnybodyThere } from './store/persons.ts';

/** The page where a link is accepted, below the public URL; what stands behind the # is sent to nobody. */
export const linkOf = (publicUrl: string, page: 'welcome' | 'invitation' | 'reset', token: string): string =>
  `${publicUrl}/${page}#token=${token}`;

/**
 * The link by which the first person comes, while nobody is there and no other link of this kind holds. `keep` runs before the
 * commit: when it throws, no link exists. Answers whether somebody is there.
 */
export async function makeWelcomeLink(
  database: Database,
  publicUrl: string,
  keep: (link: string) => Promise<void>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockWelcome(tx);
    if (await isAnybodyThere(tx)) return true;
    if (!(await isWelcomeOut(tx))) await keep(await inviteOwner(tx, publicUrl));
    return false;
  });
}

/** The same for somebody with a shell on the server, at any time. */
export function makeOwnerLink(database: Database, publicUrl: string, email?: string): Promise<string> {
  return database.transaction((tx) => inviteOwner(tx, publicUrl, email));
}

/** A link by which a person chooses a new password, and loses the second factor. Throws an Error for an unknown address. */
export async function makeResetLink(database: Database, publicUrl: string, email: string): Promise<string> {
  const person = await findPersonByEmail(database, email.toLowerCase());
  if (!person) throw new Error(`nobody has the e-mail address ${email}`);
  const token = newToken();
  const given = { id: newId(), personId: person.id, tokenHash: hashOf(token), lifeSeconds: resetSeconds };
  await actAs({ kind: 'operator' }, () =>
    database.transaction(async (tx) => {
      await insertInvitation(tx, given);
      await recordForPerson(tx, person.id, { reset: 'link made' });
    }),
  );
  return linkOf(publicUrl, 'reset', token);
}

/** A link by which somebody becomes an operator and an owner of every project. */
export async function inviteOwner(tx: Queryable, publicUrl: string, email?: string): Promise<string> {
  const token = newToken();
  const given = {
    id: newId(),
    role: 'owner' as const,
    tokenHash: hashOf(token),
    lifeSeconds: invitationSeconds,
  };
  await insertInvitation(tx, { ...given, ...(email === undefined ? {} : { email: email.toLowerCase() }) });
  return linkOf(publicUrl, 'welcome', token);
}

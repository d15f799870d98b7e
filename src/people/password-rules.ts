import type { Queryable } from '../kit/db/database.ts';
import { problem } from '../kit/problem.ts';
import { leastPassword, mostPassword } from './schema.ts';
import { listEveryProject } from './store/members.ts';

/** Throws password-unfit for a password that nobody may choose. */
export async function assertFit(db: Queryable, password: string, email: string): Promise<void> {
  const length = Array.from(password).length;
  if (length < leastPassword || length > mostPassword)
    throw unfit(`It has ${length} characters, and must have ${leastPassword} to ${mostPassword}.`);
  const typed = password.toLowerCase();
  if (typed === email.toLowerCase()) throw unfit('It is the e-mail address.');
  if (typed === email.toLowerCase().split('@')[0])
    throw unfit('It is the part of the e-mail address before its @.');
  if ((await listEveryProject(db)).some(({ name }) => name.toLowerCase() === typed))
    throw unfit('It is the name of a project.');
}

const unfit = (detail: string): Error => problem('password-unfit', { detail });

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
  const easy = [email, email.split('@')[0], ...(await listEveryProject(db)).map(({ name }) => name)];
  if (easy.some((one) => one === typed)) throw unfit('It is the e-mail address or the name of a project.');
}

const unfit = (detail: string): Error => problem('password-unfit', { detail });

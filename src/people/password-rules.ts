import { problem } from '../kit/problem.ts';
import { leastPassword, mostPassword } from './schema.ts';

/** Throws password-unfit for a password that nobody may choose. `projects`: names that they know, since a refusal tells that one is there. */
export function assertFit(password: string, email: string, projects: readonly string[]): void {
  const length = Array.from(password).length;
  if (length < leastPassword || length > mostPassword)
    throw unfit(`It has ${length} characters, and must have ${leastPassword} to ${mostPassword}.`);
  const typed = password.toLowerCase();
  if (typed === email.toLowerCase()) throw unfit('It is the e-mail address.');
  if (typed === email.toLowerCase().split('@')[0])
    throw unfit('It is the part of the e-mail address before its @.');
  if (projects.some((name) => name.toLowerCase() === typed)) throw unfit('It is the name of a project.');
}

const unfit = (detail: string): Error => problem('password-unfit', { detail });

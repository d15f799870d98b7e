import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const peopleProblems = {
  'cross-origin': kind(
    403,
    'The request comes from another page',
    'Call it from a page of this service. A program sends an API key instead of the cookie.',
    'A request with the cookie of a session, or one that signs in, must come from a page of this service: the browser says so in `Sec-Fetch-Site` or `Origin`. Otherwise any page could act for who is signed in.',
  ),
  'sign-in-refused': kind(
    401,
    'Signing in was refused',
    'Check the e-mail address and the password, or the code. The operator of the service can help with `svc people reset`.',
    'The e-mail address and the password do not belong together, or the code is wrong or was used before. An address that nobody has is answered in the same way.',
  ),
  'sign-in-slowed': kind(
    429,
    'Signing in failed too often',
    'Wait until `retryAfter`. Sessions that exist are not affected.',
    'Signing in failed several times with one e-mail address, one second factor or from one network address. Each further failure doubles the time until the next attempt is looked at, up to 15 minutes.',
    true,
  ),
  'password-unfit': kind(
    422,
    'The password cannot be used',
    'Choose another one: 12 to 256 characters, and neither the e-mail address, nor the part of it before its @, nor the name of a project of yours.',
    'The new password is too short, too long, or the first that anybody would try.',
  ),
  'invitation-over': kind(
    410,
    'The link does not hold any more',
    'Ask an owner for another invitation, or the operator of the service for `svc people invite --owner`.',
    'A link of an invitation that is not known, has expired, was taken back or was used.',
  ),
  'last-owner': kind(
    409,
    'A project needs an owner',
    'Make somebody else an owner first.',
    'The last owner of a project can neither be removed nor get another role.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(peopleProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    peopleProblems: typeof peopleProblems;
  }
}

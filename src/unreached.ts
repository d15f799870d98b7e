/** What the process says where its database cannot be reached, or refuses it. */
import { NoEmbedded } from './app.ts';
import { exitCodes, Failure } from './cli/failure.ts';
import { isDatabaseAway, isOutage, isRefused, originOf } from './kit/db/faults.ts';
import { Problem } from './kit/problem.ts';

export const refusedBy = (what: string) => (error: unknown) => {
  if (isDatabaseAway(originOf(error))) throw silenceOf(what, error);
  throw new Error(`${what} refuses`, { cause: error });
};

/** Of a step that is not tried any more. */
export const unanswered = (what: string) => (error: unknown) => {
  throw isOutage(error) && !isRefused(error) ? silenceOf(what, error) : error;
};

/** A plan waits for no database. */
export function unplanned(error: unknown, name = ''): never {
  if (error instanceof NoEmbedded)
    throw new Failure(`There is no embedded database in ${error.folder}.`, error.remedy, ...unreached);
  throw isDatabaseAway(originOf(error)) ? silenceOf(name, error) : error;
}

const unreached = [exitCodes.unreachable, { code: 'database-unavailable' }] as const;

function silenceOf(name: string, error: unknown): Failure {
  const reason = reasonsOf(error).at(-1);
  return new Failure(
    `${name.charAt(0).toUpperCase()}${name.slice(1)} gave no answer${reason ? `: ${reason}` : ''}.`,
    'Check that PostgreSQL runs there, and its address: DATABASE_URL, or SVC_DATABASE_DIRECT_URL where that is set. `svc server doctor` looks at all of it.',
    ...unreached,
  );
}

/** What the database or its pooler answered says more than that it cannot be reached. */
export function reasonsOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const isOfDatabase = error instanceof Problem && error.code === 'database-unavailable';
  if (isOfDatabase && error.cause !== undefined) return reasonsOf(error.cause);
  return error.cause === undefined ? [error.message] : [error.message, ...reasonsOf(error.cause)];
}

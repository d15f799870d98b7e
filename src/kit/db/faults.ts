/** What the errors of the database, and of the way there, say. */
import { DatabaseError } from 'pg';
import { Problem, problem } from '../problem.ts';

/** Errors of connecting, and those of them that the server answered with. */
const unsent = new WeakSet<object>();
const unconnected = new WeakSet<object>();

/** Notes that the error is of connecting: whatever it says, it says nothing of a statement. */
export function noteUnconnected(error: unknown): void {
  if (error instanceof Error) unsent.add(error);
  if (error instanceof DatabaseError) unconnected.add(error);
}

/** A statement that was not sent, since the database answers nobody. */
export class NotAsked extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Whether the error, or what it comes from, is that a statement was sent and nothing came back in time. */
export function isUnanswered(error: unknown): boolean {
  const origin = originOf(error);
  return (
    origin instanceof Error && /Query read timeout|timeout expired|connection timeout/i.test(origin.message)
  );
}

/** Whether the error, or what it comes from, is that no connection could be had: the statement was not sent. */
export function isUnreached(error: unknown): boolean {
  const origin = originOf(error);
  if (!(origin instanceof Error)) return false;
  if (origin instanceof NotAsked || unsent.has(origin)) return true;
  const code = 'code' in origin && typeof origin.code === 'string' ? origin.code : '';
  return unreachedCodes.has(code) || poolGaveUp.test(origin.message);
}

/** Whether the error leaves open if the statement was done: it was sent, and the server did not say what became of it. */
export function leavesOpen(error: unknown): boolean {
  if (isUnreached(error)) return false;
  const state = sqlState(originOf(error));
  return state === undefined ? isDatabaseAway(error) : openStates.test(state);
}

// pg-pool, of a session that it waited for and of one that it was making.
const poolGaveUp = /timeout exceeded when trying to connect|terminated due to connection timeout/i;
const unreachedCodes = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const networkCodes = new Set([...unreachedCodes, 'ECONNRESET', 'ETIMEDOUT', 'EPIPE']);
// 08 connection, 57P0x shutdown and crash, 53 out of disk, memory or connections, 58 trouble of the system below, 25006
// read-only: a replica, or a server that was told so (PostgreSQL, appendix A).
const awayStates = /^(08...|25006|53...|57P0[1-5]|58...)$/;
/** Those of them with which what is asked is answered. */
export const refusingStates = new Set(['25006', '53100']);
// 28 the role or its password, 3D000 and 3F000 no such database or schema, 42501 no right; without a right to the schema no table (42P01),
// function (42883) or type (42704) of it is there.
const refusedStates = /^(28...|3D000|3F000|42501|42P01|42704|42883)$/;
// 40 rolled back by a conflict, 55P03 a lock not free, 57014 cancelled: another time the same statement may pass.
// Of class 40 only those that say that nothing was done: 40003 leaves it open.
export const conflictStates = /^(40001|40P01|55P03)$/;
const passingStates = /^(40...|55P03|57014)$/;
// 08 the connection, 40003 completion unknown, 57P01 and 57P02 a session that was ended, perhaps after its commit.
const openStates = /^(08...|40003|57P0[12])$/;
// 22 a value, 23 a constraint, 54 a limit of the server such as the size of an index entry.
const dataStates = /^(22|23|54)...$/;

/**
 * What an error says about the statement: `unable` would have met any; `data` is the fault of a value in it; `other` nobody
 * expects, and it may be the fault of one row.
 */
export function faultOf(error: unknown): 'unable' | 'data' | 'other' {
  if (isDatabaseAway(error)) return 'unable';
  return dataStates.test(sqlState(error) ?? '') ? 'data' : 'other';
}

/** Whether the error, or what it comes from, is that the database lets this role do nothing, whatever the statement. */
export function isRefused(error: unknown): boolean {
  return refusedStates.test(sqlState(originOf(error)) ?? '');
}

/** Whether the error says that the database cannot be reached or changed now, rather than that the statement was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'database-unavailable';
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Whoever may not connect is refused, and does not wait.
  if (unconnected.has(error) && !refusedStates.test(code)) return true;
  if (networkCodes.has(code) || awayStates.test(code) || passingStates.test(code)) return true;
  return /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client was closed|not queryable/i.test(
    error.message,
  );
}

/** Whether it is away for everybody, rather than that a conflict or a limit kept one statement from being made. */
export function isOutage(error: unknown): boolean {
  return (isDatabaseAway(error) || isRefused(error)) && !passingStates.test(sqlState(originOf(error)) ?? '');
}

/** The SQLSTATE of a PostgreSQL error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** A unique value that another row has. */
export function isTaken(error: unknown): boolean {
  return sqlState(error) === '23505';
}

export function originOf(error: unknown): unknown {
  return error instanceof Problem ? error.cause : error;
}

export const keepsNoSessions =
  'DATABASE_URL, or SVC_DATABASE_DIRECT_URL where that is set, leads to a pooler that keeps no sessions: let SVC_DATABASE_DIRECT_URL lead to the server itself';

/** Why, its operator is told by `/readyz`: it may name what is no caller's. */
const takesNoChanges =
  'The database answers and takes no changes now, as one whose disk is full. Nothing was accepted. The operator is told why.';

/** Of changes of which the database did not say whether it made them. */
const unsaid = new WeakSet<Problem>();

/** Whether the problem leaves open if what was asked is done. */
export const isUnsaid = (fault: Problem): boolean => unsaid.has(fault);

/** Whether the caller of the problem would read that nothing was accepted. */
export function saysNothingDone({ code, details: { detail = takesNoChanges } }: Problem): boolean {
  return code === 'database-unavailable' && detail === takesNoChanges;
}

/**
 * Every failure to reach the database is one problem; other errors stay what they are. `isChange`: of a statement, or a commit, that
 * changes something by itself.
 */
export function asProblem(error: unknown, isChange = false): unknown {
  if (error instanceof Error && /unsupported startup parameter/.test(error.message))
    return new Error(keepsNoSessions, { cause: error });
  if (error instanceof Problem || !(isDatabaseAway(error) || isRefused(error))) return error;
  const fault = problem('database-unavailable', {
    cause: error,
    ...(refusingStates.has(sqlState(error) ?? '') ? { detail: takesNoChanges } : {}),
  });
  if (isChange && leavesOpen(error)) unsaid.add(fault);
  return fault;
}

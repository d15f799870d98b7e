import { CommanderError } from 'commander';
import { SvcError } from '../../ui/client/src/index.ts';
import { exitCodes, Failure } from './failure.ts';
import { remedyOf } from './remedies.ts';

/** Says what ended a command, and answers the exit code. What is a fault of ours is thrown on. */
export function report(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const failure = error instanceof SvcError ? failureOf(error) : error;
  if (!(failure instanceof Failure)) throw error;
  const { message, remedy, exitCode, details } = failure;
  const said = asJson ? JSON.stringify({ error: { message, remedy, ...details } }) : `${message}\n${remedy}`;
  process.stderr.write(`${said}\n`);
  return exitCode;
}

/** What svc said, or why it said nothing, for whoever reads a terminal. */
export function failureOf(error: SvcError): Failure {
  const { code, status, detail, requestId, operationId, issues } = error;
  const details = { code, status, requestId, operationId, issues: issues.length > 0 ? issues : undefined };
  const more = issues
    .map(({ name, detail: why }) => `${name}: ${why}`)
    .filter((one) => one !== detail)
    .map((one) => `\n  ${one}`)
    .join('');
  return new Failure(`${detail}${more}`, remedyOf(error), exitCodeOf(error), details);
}

function exitCodeOf({ code, status }: SvcError): number {
  if (code === 'unauthenticated' || code === 'forbidden') return exitCodes.credentials;
  return status === 0 || status === 503 || code === 'unexpected-answer'
    ? exitCodes.unreachable
    : exitCodes.refused;
}

import { CommanderError } from 'commander';
import { SvcError } from '../../ui/client/src/index.ts';
import { exitCodes, Failure, saidOf } from './failure.ts';
import { withOption } from './option-names.ts';
import { remedyOf } from './remedies.ts';
import { reasonOf } from './unreachable.ts';

/** Says what ended a command, and answers the exit code. What is a fault of ours is thrown on. */
export function report(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const failure = error instanceof SvcError ? failureOf(error) : error;
  if (!(failure instanceof Failure)) throw error;
  process.stderr.write(`${saidOf(failure, asJson)}\n`);
  return failure.exitCode;
}

/** What svc said, or why it said nothing: for whoever reads a terminal by its options, for a model by the members of its tools. */
export function failureOf(error: SvcError, worded: (said: string) => string = withOption): Failure {
  const { code, status, detail: said, requestId, operationId, issues } = error;
  const { detail, remedy } =
    code === 'unreachable' ? silenceOf(error) : { detail: said, remedy: remedyOf(error) };
  const details = { code, status, requestId, operationId, issues: issues.length > 0 ? issues : undefined };
  const more = issues
    .map(({ name, detail: why }) => `${name}: ${why}`)
    .filter((one) => one !== detail)
    .map((one) => `\n  ${worded(one)}`)
    .join('');
  return new Failure(`${asSentence(worded(detail))}${more}`, remedy, exitCodeOf(error), details);
}

/** The client says what the system said. */
function silenceOf(error: SvcError): { detail: string; remedy: string } {
  const { why, remedy = remedyOf(error) } = reasonOf(error);
  return { detail: `${error.detail.replace(/ gave no answer[^]*/, '')} gave no answer: ${why}.`, remedy };
}

function asSentence(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}

function exitCodeOf({ code, status }: SvcError): number {
  if (code === 'unauthenticated' || code === 'forbidden') return exitCodes.credentials;
  return status === 0 || status === 503 || code === 'unexpected-answer'
    ? exitCodes.unreachable
    : exitCodes.refused;
}

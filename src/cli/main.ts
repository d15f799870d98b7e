/** `svc` as a builder uses it. The operator's words start `src/main.ts` instead (`scripts/svc.mjs`). */
import { CommanderError } from 'commander';
import { exitCodes, Failure } from './failure.ts';
import { createProgram } from './program.ts';

/** Says what ended a command, and answers the exit code. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (!(error instanceof Failure)) throw error;
  const { message, remedy, exitCode, details } = error;
  const said = process.argv.includes('--json')
    ? JSON.stringify({ error: { message, remedy, ...details } })
    : `${message}\n${remedy}`;
  process.stderr.write(`${said}\n`);
  return exitCode;
}

// Whoever reads has seen enough: `svc … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

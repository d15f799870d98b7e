import { exitCodes } from './failure.ts';
import { createProgram } from './program.ts';
import { report } from './report.ts';

/** A builder's command, as the arguments of the process name it. */
export async function run(): Promise<void> {
  listenToStreams();
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(exitCodes.interrupted);
  });
  try {
    await createProgram().parseAsync(process.argv);
  } catch (error) {
    process.exitCode = report(error, process.argv.includes('--json'));
  }
}

/** Whoever reads has seen enough: `svc … | head`. A command that must not end for that listens, too. */
function listenToStreams(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (stream.listenerCount('error') === 1) process.exit(0);
    });
}

import { exitCodes } from './failure.ts';
import { tell } from './output.ts';
import { whyUnwritten } from './plain.ts';
import { createProgram } from './program.ts';
import { report } from './report.ts';

/** A builder's command, as the arguments of the process name it. */
export async function run(): Promise<void> {
  listenToStreams();
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(exitCodes.interrupted);
  });
  const ended = await runWords(process.argv.slice(2));
  if (ended !== undefined) process.exitCode = ended;
}

/** The exit code of what ended the command before its time. */
export async function runWords(words: readonly string[]): Promise<number | undefined> {
  try {
    await createProgram().parseAsync(words, { from: 'user' });
    return undefined;
  } catch (error) {
    return report(error, words.includes('--json'));
  }
}

/** Whoever reads has seen enough: `svc … | head`. A command that must not end for that listens, too. */
function listenToStreams(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') {
        if (stream.listenerCount('error') === 1) process.exit(0);
        return;
      }
      if (stream === process.stdout)
        tell(`The output could not be written: ${whyUnwritten(error)}.\nMake room, or write it elsewhere.`);
      process.exit(exitCodes.refused);
    });
}

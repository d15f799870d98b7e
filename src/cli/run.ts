import { exitCodes } from './failure.ts';
import { tell } from './output.ts';
import { whyUnwritten } from './plain.ts';
import { createProgram } from './program.ts';
import { report } from './report.ts';

/** A Ctrl+C comes from the terminal, and again from each parent that passes it on, such as npm. */
const sameSignalMs = 1_000;

/** A builder's command, as the arguments of the process name it. */
export async function run(): Promise<void> {
  listenToStreams();
  const isInterrupted = listenToInterrupts();
  const ended = await runWords(process.argv.slice(2));
  if (ended !== undefined) process.exitCode = ended;
  if (!isInterrupted()) return;
  await Promise.all([process.stdout, process.stderr].map(written));
  // A process that ends by itself stops listening first: the same signal from a parent would end it otherwise.
  process.exit();
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => void stream.write('', () => done()));
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

/** A command that must not end at once listens, too. Answers how to ask whether there was one. */
function listenToInterrupts(): () => boolean {
  let toldAt = -Infinity;
  process.on('SIGINT', () => {
    const isSame = performance.now() - toldAt < sameSignalMs;
    if (isSame) return;
    toldAt = performance.now();
    if (process.listenerCount('SIGINT') === 1) process.exit(exitCodes.interrupted);
  });
  return () => toldAt > -Infinity;
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

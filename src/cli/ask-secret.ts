import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes, Failure } from './failure.ts';
import { readPiped } from './text-file.ts';

/** What nobody else may see: asked for on a terminal, without an echo, or all that is piped in. */
export function secretGiven(question: string): Promise<string> {
  return process.stdin.isTTY ? askHidden(question) : readPiped();
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      lines.once('SIGINT', () =>
        reject(new Failure('Interrupted.', 'Nothing was done.', exitCodes.interrupted)),
      );
      lines.question('').then(resolve, reject);
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

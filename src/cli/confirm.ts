import { createInterface } from 'node:readline/promises';
import { exitCodes, Failure } from './failure.ts';
import { tell } from './output.ts';

/** Goes on when somebody says yes, by `--yes` or on a terminal; nobody else can be asked. */
export async function confirm(
  what: string,
  { yes }: { yes?: boolean },
  { without, nothing }: { without: string; nothing: Failure },
): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new Failure(
      `${nothing.message} Nobody can be asked here: this is no terminal. ${what}`,
      `Say --yes to go on without a question, or ${without}.`,
      exitCodes.usage,
    );
  tell(what);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new Promise<never>((_, refuse) => {
    lines.once('SIGINT', () =>
      refuse(new Failure('Interrupted.', 'Nothing was done.', exitCodes.interrupted)),
    );
    lines.once('close', () => refuse(nothing));
  });
  const answer = await Promise.race([lines.question('Go on? [y/N] '), interrupted]).finally(() =>
    lines.close(),
  );
  if (!/^y(es)?$/i.test(answer.trim())) throw nothing;
}

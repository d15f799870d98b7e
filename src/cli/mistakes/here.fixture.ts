import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { Ran } from '../run.fixture.ts';
import { runWords } from '../run.ts';

/** What one run of the program has of its process. */
interface Own {
  ran: Ran;
  env: Record<string, string>;
  stdin: Readable;
}

const owns = new AsyncLocalStorage<Own>();

/**
 * Gives each run in this process its own environment and streams, so that many run at once: a process for each
 * takes a fifth of a second of both cores. They share the folder, and `process.exitCode`.
 */
export function shareProcess(folder: string): () => void {
  const { env, stdin } = process;
  const cwd = process.cwd();
  process.chdir(folder);
  Object.defineProperty(process, 'env', { configurable: true, get: () => owns.getStore()?.env ?? env });
  Object.defineProperty(process, 'stdin', { configurable: true, get: () => owns.getStore()?.stdin ?? stdin });
  const streams = [
    [process.stdout, 'out'],
    [process.stderr, 'err'],
  ] as const;
  const ends = streams.map(([stream, name]) => {
    const write = stream.write.bind(stream);
    // Each run that listens to it would be the last of its process.
    stream.setMaxListeners(0);
    stream.write = (chunk: string | Uint8Array, ...rest: []) => {
      const own = owns.getStore();
      if (!own) return write(chunk, ...rest);
      own.ran[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    };
    return () => void (stream.write = write);
  });
  const exits = process.listeners('exit');
  return () => {
    // What a run leaves for the end of its process.
    for (const listener of process.listeners('exit').filter((one) => !exits.includes(one))) listener(0);
    for (const end of ends) end();
    Object.defineProperty(process, 'env', { configurable: true, writable: true, value: env });
    Object.defineProperty(process, 'stdin', { configurable: true, get: () => stdin });
    process.chdir(cwd);
  };
}

/** One command, in this process. What it says by `process.exitCode` is right only where no other runs beside it. */
export async function runHere(
  words: readonly string[],
  env: Record<string, string>,
  input: string,
): Promise<Ran> {
  const own: Own = { ran: { code: 0, out: '', err: '' }, env, stdin: Readable.from([Buffer.from(input)]) };
  const before = process.exitCode;
  process.exitCode = 0;
  const ended = await owns.run(own, () => runWords(words));
  const code = ended ?? process.exitCode;
  process.exitCode = before;
  return { ...own.ran, code };
}

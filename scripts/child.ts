import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A process of node that was started here. */
export interface Child {
  process: ChildProcess;
  /** The end of what it wrote to both its streams. */
  said(): string;
  /** Ends it and waits; with `patienceMs` it is killed when it takes longer. */
  end(signal?: NodeJS.Signals, patienceMs?: number): Promise<void>;
}

const mostSaid = 200_000;
const startMs = 60_000;

/** Where Node keeps what it compiled, as in `npm start`: a start takes half the work. */
export const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };

/** Starts a file with this node; `args` begins with the file. */
export function startChild(
  args: readonly string[],
  { env = process.env, ...options }: Pick<SpawnOptions, 'env' | 'cwd'> = {},
): Child {
  const child = spawn(process.execPath, args, {
    ...options,
    env: { ...compiled, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const listen = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-mostSaid);
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  return { process: child, said: () => said, end: (signal, patienceMs) => end(child, signal, patienceMs) };
}

export async function end(
  child: ChildProcess,
  signal: NodeJS.Signals = 'SIGTERM',
  patienceMs?: number,
): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const killer = patienceMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await ended;
  clearTimeout(killer);
}

/** Resolves once `/readyz` of the address answers well; throws when the process ends or takes longer, a minute unless told. */
export async function untilReady(base: string, child: Child, withinMs = startMs): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => undefined,
    );
    return answer?.ok ? true : undefined;
  };
  await poll(child, look, withinMs);
}

/** Resolves with what the process said that fits; throws when it ends or takes longer than a minute. */
export function untilSaid(child: Child, pattern: RegExp): Promise<RegExpExecArray> {
  return poll(child, async () => pattern.exec(child.said()) ?? undefined);
}

async function poll<Found>(
  child: Child,
  look: () => Promise<Found | undefined>,
  withinMs = startMs,
): Promise<Found> {
  const giveUpAt = Date.now() + withinMs;
  while (Date.now() < giveUpAt) {
    const found = await look();
    if (found !== undefined) return found;
    if (hasEnded(child.process))
      throw new Error(
        `the process ended with ${child.process.signalCode ?? child.process.exitCode}: ${child.said()}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the process was not ready within ${withinMs / 1_000} s: ${child.said()}`);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

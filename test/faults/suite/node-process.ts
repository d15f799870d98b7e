import { spawn, type ChildProcess } from 'node:child_process';
import type { Settings } from './settings.ts';

/** One node of the platform: a process that dies and comes back on the same ports. */
export interface NodeProcess {
  readonly base: string;
  readonly proxy: string;
  readonly pid: number | undefined;
  /** Starts it, to die at a named point if one is given (`after-mark:3`). */
  start(crashAt?: string): void;
  /** Resolves with `true` if it killed itself at its point, once it is gone. */
  readonly gone: Promise<boolean>;
  signal(name: NodeJS.Signals): void;
  /** Resolves once it takes requests; throws after the longest time that a start may take, with every silence of the database in it. */
  ready(): Promise<void>;
  /** The end of what it printed. */
  said(): string;
}

const mostFailures = 30;
const startMs = 60_000;

export function createNode(
  root: string,
  base: string,
  env: Record<string, string>,
  { silences, silenceMs }: Pick<Settings, 'silences' | 'silenceMs'>,
): NodeProcess {
  let child: ChildProcess | undefined;
  let gone: Promise<boolean> = Promise.resolve(false);
  let killed = false;
  let said = '';

  function spawnNode(
    crashAt: string | undefined,
    failures: number,
    resolve: (crashed: boolean) => void,
    reject: (error: Error) => void,
  ): void {
    const started = spawn(process.execPath, ['src/main.ts'], {
      cwd: root,
      env: { ...env, ...(crashAt === undefined ? {} : { SVC_CRASH_AT: crashAt }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const listen = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-20_000);
    };
    started.stdout.on('data', listen);
    started.stderr.on('data', listen);
    child = started;
    started.once('exit', (code, signal) => {
      if (killed) return resolve(false);
      if (signal === 'SIGKILL' && crashAt !== undefined) return resolve(true);
      // It cannot start while the database recovers; a service manager tries again.
      if (code === 1 && failures < mostFailures && /could not start/.test(said))
        return void setTimeout(() => {
          if (killed) resolve(false);
          else spawnNode(crashAt, failures + 1, resolve, reject);
        }, 300);
      reject(new Error(`a node ended by itself (${signal ?? code}): ${said}`));
    });
  }

  return {
    base,
    proxy: `http://127.0.0.1:${env['SVC_PROXY_PORT']}`,
    get pid() {
      return child?.pid;
    },
    get gone() {
      return gone;
    },
    start(crashAt) {
      killed = false;
      gone = new Promise((resolve, reject) => {
        spawnNode(crashAt, 0, resolve, reject);
      });
      gone.catch(() => undefined);
    },
    signal(name) {
      if (name === 'SIGKILL' || name === 'SIGTERM') killed = true;
      child?.kill(name);
    },
    async ready() {
      const giveUpAt = Date.now() + startMs + silences * silenceMs;
      while (Date.now() < giveUpAt) {
        const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
          () => undefined,
        );
        if (answer?.ok) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`a node was not ready in time: ${said}`);
    },
    said: () => said,
  };
}

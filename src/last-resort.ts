import { carriedErrors } from './config-names.ts';
import type { Health } from './health.ts';
import type { Logger } from './kit/log.ts';
import type { Metrics } from './kit/metrics.ts';

/**
 * After an uncaught exception the memory of a process cannot be trusted. It is logged and counted, what is in flight ends as on
 * SIGTERM, and a new process takes this one's place, with its id, its arguments and the count, unless a signal
 * told it to end meanwhile.
 */
export function replaceOnUncaught(options: {
  health: Health;
  log: Logger;
  metrics: Metrics;
  /** For what is in flight. */
  patienceMs: number;
  stop(): Promise<void>;
}): void {
  const { health, log, metrics, patienceMs } = options;
  let count = Number(process.env[carriedErrors] ?? 0);
  metrics.uncaughtErrors.inc(count);
  const stopAndReplace = async (): Promise<void> => {
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, patienceMs));
    const stopped = options.stop().catch((reason: unknown) => log.error({ err: reason }, 'stopping failed'));
    await Promise.race([stopped, deadline]);
    await new Promise<void>((resolve) => log.flush(() => resolve()));
    // The handler of the signal ends it.
    if (health.isToldToEnd) return;
    replaceProcess(count);
  };
  // Node raises a rejection that nobody handles here, too.
  process.on('uncaughtException', (error, origin) => {
    count += 1;
    metrics.uncaughtErrors.inc();
    log.fatal({ err: error, origin }, 'an error that nobody caught; the process is replaced');
    if (health.isStopping) return;
    health.isStopping = true;
    void stopAndReplace();
  });
}

/** Where a process cannot be replaced (Windows), it ends, and whoever watches over it starts another one. */
function replaceProcess(count: number): void {
  const env = { ...process.env, [carriedErrors]: String(count) };
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  try {
    process.execve?.(process.execPath, args, env);
  } finally {
    process.exit(1);
  }
}

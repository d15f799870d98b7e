import type { Ground } from '../../kit/ground.ts';
import type { Catalog } from '../../providers/index.ts';
import type { ConnectionKey } from '../store.ts';
import { claimIdle } from './store.ts';

/** Refreshes connections that nobody uses before the provider forgets them. Every worker runs it; each connection is one node's. */
export interface KeepAlive {
  /** One look, now: how many connections were due. */
  round(): Promise<number>;
  start(): void;
  /** Waits for what is under way. */
  stop(): Promise<void>;
}

const usualHours = 24;
const everyMs = 60_000;
const atOnce = 20;
/** A claimed connection is nobody else's for so long, and rests so long when its refresh failed. */
const holdMs = 60 * 60_000;

/** Which providers end what is idle, and after how many hours a refresh keeps it: those that say so, and those that rotate. */
export function keepAliveHours(catalog: Catalog): Map<string, number> {
  const found = new Map<string, number>();
  for (const { name, oauth2Opts } of catalog.list()) {
    const hours =
      oauth2Opts?.keepAliveIntervalHours ?? (oauth2Opts?.refreshTokenRotates ? usualHours : undefined);
    if (hours !== undefined) found.set(name, hours);
  }
  return found;
}

export function createKeepAlive(
  { database, log }: Ground,
  catalog: Catalog,
  refresh: (key: ConnectionKey) => Promise<void>,
): KeepAlive {
  const hours = keepAliveHours(catalog);
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  async function refreshOne(key: ConnectionKey): Promise<void> {
    try {
      await refresh(key);
    } catch (error) {
      const [projectId, connectionId] = key;
      log.warn({ err: error, projectId, connectionId }, 'an idle connection could not be kept alive');
    }
  }

  async function round(): Promise<number> {
    for (let due = 0; ;) {
      const keys = await claimIdle(database, hours, { atMost: atOnce, holdMs });
      await Promise.all(keys.map(refreshOne));
      due += keys.length;
      if (keys.length < atOnce || isStopped) return due;
    }
  }

  async function look(): Promise<void> {
    try {
      await round();
    } catch (error) {
      log.warn({ err: error }, 'looking for idle connections failed; it is tried again');
    }
  }

  function plan(): void {
    // Nodes that started together do not look together.
    timer = setTimeout(
      () => {
        looking = look().finally(() => {
          if (!isStopped) plan();
        });
      },
      everyMs * (0.5 + Math.random()),
    );
    timer.unref();
  }

  return {
    round,
    start: plan,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

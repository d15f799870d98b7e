import type { Database } from './db/database.ts';
import type { Statement } from './db/statement.ts';
import type { Logger } from './log.ts';

/** Keeps when keys and sessions were used last, off the path of those who use them. */
export interface UseLog {
  note(keyId: string): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

const everyMs = 60_000;

/** `touch` takes ids and how many milliseconds ago each was used. */
export function createUseLog(
  { database, log }: { database: Database; log: Logger },
  touch: Statement,
  intervalMs = everyMs,
): UseLog {
  let used = new Map<string, number>();
  const timer = setInterval(() => void write(), intervalMs);
  timer.unref();

  async function write(): Promise<void> {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    const now = performance.now();
    try {
      await database.rows(touch, [[...batch.keys()], [...batch.values()].map((usedAt) => now - usedAt)]);
    } catch (error) {
      log.debug({ err: error }, 'the last use of keys or sessions was not written; it is tried again');
      used = new Map([...batch, ...used]);
    }
  }

  return {
    note: (keyId) => void used.set(keyId, performance.now()),
    close: async () => {
      clearInterval(timer);
      await write();
    },
  };
}

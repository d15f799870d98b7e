import { Problem } from './problem.ts';

/**
 * A cache of database state that is never older than {@link CacheOptions.maxAgeMs} while the database answers: the entries
 * in use are read again once a second in one query (architecture, Caches). With the database away they serve for a while longer.
 */
export interface Cache<Value> {
  /** The value, or undefined when the database has none. */
  get(key: string): Promise<Value | undefined>;
  /** Present and fresh, without waiting; undefined means: ask {@link get}. */
  peek(key: string): Value | undefined;
  /** Forgets the entry; a read of it that is under way is not stored. */
  invalidate(key: string): void;
  close(): void;
}

export interface CacheOptions<Value> {
  /** Reads many at once; a key that is missing from the answer does not exist. */
  load(keys: string[]): Promise<Map<string, Value>>;
  /** Fresh for this long after the last read. */
  maxAgeMs?: number;
  /** Served for this long after the last read when the database cannot be reached. */
  staleWhileAwayMs?: number;
  maxEntries?: number;
}

interface Entry<Value> {
  value: Value;
  readAt: number;
  used: boolean;
}

const revalidateEveryMs = 1_000;

export function createCache<Value>(options: CacheOptions<Value>): Cache<Value> {
  const { maxAgeMs = 2_000, staleWhileAwayMs = 60_000, maxEntries = 10_000 } = options;
  const entries = new Map<string, Entry<Value>>();
  const loading = new Map<string, Promise<Value | undefined>>();
  const timer = setInterval(() => void revalidate(), revalidateEveryMs);
  timer.unref();
  let revalidating = false;

  function store(key: string, value: Value | undefined, readAt: number): void {
    entries.delete(key);
    if (value === undefined) return;
    entries.set(key, { value, readAt, used: false });
    const oldest = entries.keys().next().value;
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  }

  async function fill(key: string): Promise<Value | undefined> {
    const startedAt = performance.now();
    const promise = options.load([key]).then((found) => found.get(key));
    loading.set(key, promise);
    try {
      const value = await promise;
      // An invalidation meanwhile took our promise away: what was read may be the old state.
      if (loading.get(key) === promise) store(key, value, startedAt);
      return value;
    } catch (error) {
      const entry = entries.get(key);
      if (entry && isAway(error) && performance.now() - entry.readAt < staleWhileAwayMs) return entry.value;
      throw error;
    } finally {
      if (loading.get(key) === promise) loading.delete(key);
    }
  }

  async function revalidate(): Promise<void> {
    const used = [...entries].filter(([, entry]) => entry.used).map(([key]) => key);
    if (revalidating || used.length === 0) return;
    revalidating = true;
    const startedAt = performance.now();
    const before = new Map(used.map((key) => [key, entries.get(key)]));
    // When it fails, the entries age; the next get decides between waiting, stale and failing.
    const found = await options.load(used).catch(() => undefined);
    for (const key of found ? used : []) {
      if (entries.get(key) === before.get(key)) store(key, found?.get(key), startedAt);
    }
    revalidating = false;
  }

  function peek(key: string): Value | undefined {
    const entry = entries.get(key);
    if (!entry || performance.now() - entry.readAt > maxAgeMs) return undefined;
    entry.used = true;
    return entry.value;
  }

  return {
    peek,
    get: async (key) => peek(key) ?? (await (loading.get(key) ?? fill(key))),
    invalidate: (key) => {
      entries.delete(key);
      loading.delete(key);
    },
    close: () => clearInterval(timer),
  };
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'database-unavailable';
}

import { Problem } from './problem.ts';

/**
 * A cache of database state that is never older than {@link CacheOptions.maxAgeMs} while the database answers: the entries
 * in use are read again once a second in one query. With the database away, or silent for a second,
 * every caller is served what is known for a while longer.
 */
export interface Cache<Value> {
  /** The value, or undefined when the database has none. */
  get(key: string): Promise<Value | undefined>;
  /** Present and fresh, without waiting; undefined means: ask {@link get}. */
  peek(key: string): Value | undefined;
  /** Forgets the entry; a read of it that is under way is not stored. */
  invalidate(key: string): void;
  /** Forgets the entries of which it holds, and stores no read that is under way: it may be of one. Without the database. */
  invalidateWhere(applies: (value: Value) => boolean): void;
  /** The next get asks again. With the database away the old value still serves. */
  expire(key: string): void;
  close(): void;
}

export interface CacheOptions<Value> {
  /** Reads many at once; a key that is missing from the answer does not exist. */
  load(keys: string[]): Promise<Map<string, Value>>;
  /** Fresh for this long after the last read. */
  maxAgeMs?: number;
  /** Served for this long after the last read when the database cannot be reached. */
  staleWhileAwayMs?: number;
  /** A read that takes longer counts as unanswered, where there is an entry to serve. */
  patienceMs?: number;
  maxEntries?: number;
}

interface Entry<Value> {
  value: Value;
  readAt: number;
  used: boolean;
  expired?: boolean;
}

/** A query that is under way. */
interface Reading<Value> {
  result: Promise<Value | undefined>;
  /** Ends when the query was unanswered for so long that the known value is served instead. */
  silence: Promise<void>;
}

const revalidateEveryMs = 1_000;

/** Of all caches of this process. */
const open = new Set<Pick<Entries<unknown>, 'used'>>();

/** How long ago the oldest entry in use of any cache was read: about a second, and more while the database is away. */
export function oldestCachedMs(): number {
  const now = performance.now();
  let oldest = now;
  for (const entries of open)
    for (const { readAt } of entries.used().values()) oldest = Math.min(oldest, readAt);
  return now - oldest;
}

export function createCache<Value>(options: CacheOptions<Value>): Cache<Value> {
  const { patienceMs = 1_000 } = options;
  const entries = createEntries<Value>(options);
  open.add(entries);
  const readings = new Map<string, Reading<Value>>();
  const endRevalidation = revalidateEach(options, entries);

  function read(key: string): Reading<Value> {
    const startedAt = performance.now();
    const silence = Promise.withResolvers<void>();
    const patience = setTimeout(silence.resolve, patienceMs);
    const result = options
      .load([key])
      .then((found) => {
        const value = found.get(key);
        // An invalidation removed this query meanwhile: it may have read the old state.
        if (readings.get(key) === reading) entries.store(key, value, startedAt);
        return value;
      })
      .finally(() => {
        clearTimeout(patience);
        if (readings.get(key) === reading) readings.delete(key);
      });
    const reading = { result, silence: silence.promise };
    readings.set(key, reading);
    return reading;
  }

  /** Callers share a query; each decides for itself whether to serve the known value. */
  async function ask(key: string): Promise<Value | undefined> {
    const { result, silence } = readings.get(key) ?? read(key);
    try {
      return await Promise.race([result, silence.then(() => entries.stale(key) ?? result)]);
    } catch (error) {
      const value = isAway(error) ? entries.stale(key) : undefined;
      if (value === undefined) throw error;
      return value;
    }
  }

  return {
    peek: (key) => entries.fresh(key),
    get: async (key) => entries.fresh(key) ?? ask(key),
    invalidate: (key) => {
      entries.delete(key);
      readings.delete(key);
    },
    invalidateWhere: (applies) => {
      entries.deleteWhere(applies);
      readings.clear();
    },
    expire: (key) => {
      entries.expire(key);
      readings.delete(key);
    },
    close: () => {
      open.delete(entries);
      endRevalidation();
    },
  };
}

/** Refreshes the entries in use; returns a function that stops it. */
function revalidateEach<Value>(options: CacheOptions<Value>, entries: Entries<Value>): () => void {
  let revalidating = false;

  async function revalidate(): Promise<void> {
    const before = entries.used();
    if (revalidating || before.size === 0) return;
    revalidating = true;
    const startedAt = performance.now();
    // After a failure the entries age; the next get decides between waiting, stale and failing.
    const found = await options.load([...before.keys()]).catch(() => undefined);
    for (const [key, entry] of found ? before : []) {
      if (entries.is(key, entry)) entries.store(key, found?.get(key), startedAt);
    }
    revalidating = false;
  }

  const timer = setInterval(() => void revalidate(), revalidateEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** A known value and until when it is served. Serving it counts as use. */
interface Entries<Value> {
  fresh(key: string): Value | undefined;
  stale(key: string): Value | undefined;
  store(key: string, value: Value | undefined, readAt: number): void;
  expire(key: string): void;
  delete(key: string): void;
  deleteWhere(applies: (value: Value) => boolean): void;
  used(): Map<string, Entry<Value>>;
  /** Whether nothing was stored, expired or deleted since. */
  is(key: string, entry: Entry<Value>): boolean;
}

function createEntries<Value>(options: CacheOptions<Value>): Entries<Value> {
  const { maxAgeMs = 2_000, staleWhileAwayMs = 60_000, maxEntries = 10_000 } = options;
  const known = new Map<string, Entry<Value>>();

  function tell(entry: Entry<Value> | undefined, isGood: boolean): Value | undefined {
    if (!entry || !isGood) return undefined;
    entry.used = true;
    return entry.value;
  }

  const ageOf = (entry: Entry<Value> | undefined): number => performance.now() - (entry?.readAt ?? 0);

  return {
    fresh(key) {
      const entry = known.get(key);
      return tell(entry, entry?.expired !== true && ageOf(entry) <= maxAgeMs);
    },
    stale(key) {
      const entry = known.get(key);
      return tell(entry, ageOf(entry) < staleWhileAwayMs);
    },
    store(key, value, readAt) {
      known.delete(key);
      if (value === undefined) return;
      known.set(key, { value, readAt, used: false });
      const oldest = known.keys().next().value;
      if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
    },
    expire(key) {
      const entry = known.get(key);
      if (entry) known.set(key, { ...entry, expired: true });
    },
    delete: (key) => void known.delete(key),
    deleteWhere(applies) {
      for (const [key, { value }] of known) if (applies(value)) known.delete(key);
    },
    used: () => new Map([...known].filter(([, entry]) => entry.used)),
    is: (key, entry) => known.get(key) === entry,
  };
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'database-unavailable';
}

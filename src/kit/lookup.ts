/** Reads many at once; a key that is missing from the answer does not exist. */
export type Load<Value> = (keys: string[]) => Promise<Map<string, Value>>;

/** A {@link Load} that remembers what is not there. */
export type Lookup<Value> = Load<Value> & {
  /** After keys were made elsewhere than by whoever invents them. A query that is under way is not remembered either. */
  forgetAbsent(): void;
};

interface Waiting<Value> {
  keys: string[];
  resolve: (found: Map<string, Value>) => void;
  reject: (error: unknown) => void;
}

const absentMs = 5_000;
const mostAbsent = 10_000;
const mostAtOnce = 500;

/**
 * For keys that strangers invent: one query at a time whatever the number of callers, and none for a key that was just found
 * absent. Only for keys that nobody can know before they exist, such as our random ids.
 */
export function createLookup<Value>(load: Load<Value>): Lookup<Value> {
  let absent = new Map<string, number>();
  let waiting: Waiting<Value>[] = [];
  let isAsking = false;

  function isAbsent(key: string): boolean {
    const foundAt = absent.get(key);
    return foundAt !== undefined && performance.now() - foundAt < absentMs;
  }

  function remember(keys: string[], found: Map<string, Value>, into: typeof absent): void {
    const now = performance.now();
    for (const key of keys) {
      into.delete(key);
      if (!found.has(key)) into.set(key, now);
    }
    for (const oldest of into.keys()) {
      if (into.size <= mostAbsent) break;
      into.delete(oldest);
    }
  }

  function nextBatch(): Waiting<Value>[] {
    let size = 0;
    const end = waiting.findIndex(({ keys }, at) => (size += keys.length) > mostAtOnce && at > 0);
    const batch = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return batch;
  }

  async function ask(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    while (waiting.length > 0) {
      const batch = nextBatch();
      const keys = [...new Set(batch.flatMap((each) => each.keys))];
      const into = absent;
      try {
        const found = await load(keys);
        remember(keys, found, into);
        for (const { resolve } of batch) resolve(found);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isAsking = false;
  }

  async function lookup(keys: string[]): Promise<Map<string, Value>> {
    const asked = keys.filter((key) => !isAbsent(key));
    if (asked.length === 0) return new Map();
    return new Promise((resolve, reject) => {
      waiting.push({ keys: asked, resolve, reject });
      void ask();
    });
  }

  return Object.assign(lookup, { forgetAbsent: () => void (absent = new Map()) });
}

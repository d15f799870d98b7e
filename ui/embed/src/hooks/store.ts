import { SvcError } from '@svc/client';

/** What was asked for under a key, and how far it is. */
export interface Loaded<Value> {
  data: Value | undefined;
  error: SvcError | undefined;
  isFetching: boolean;
}

interface Entry {
  state: Loaded<unknown>;
  load: () => Promise<unknown>;
  /** Counts requests: an answer to an earlier one is dropped. */
  asked: number;
}

/** Answers of svc by key, shared by all hooks below one provider. */
export interface QueryStore {
  subscribe: (listener: () => void) => () => void;
  read(key: string): Loaded<unknown>;
  /** Asks, unless it was asked for already. */
  want(key: string, load: () => Promise<unknown>): void;
  /** What is known, or what svc answers as soon as it does; rejects where it does not. */
  known<Value>(key: string, load: () => Promise<Value>): Promise<Value>;
  /** Asks again for everything under keys that begin so; what is known stays until the answer. */
  refresh(prefix: string): Promise<void>;
  set(key: string, data: unknown): void;
}

/** A fault of the page itself is told like any other. */
export function problemOf(cause: unknown): SvcError {
  return cause instanceof SvcError
    ? cause
    : new SvcError({ code: 'unexpected', status: 0, detail: String(cause), cause });
}

const nothing: Loaded<unknown> = { data: undefined, error: undefined, isFetching: false };

/** What is known under a key, or what its answer says. */
function settled(entry: Entry, subscribe: QueryStore['subscribe']): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const { data, error, isFetching } = entry.state;
      if (data === undefined && isFetching) return;
      stop();
      if (data === undefined) reject(error);
      else resolve(data);
    };
    const stop = subscribe(look);
    look();
  });
}

export function createQueryStore(): QueryStore {
  const entries = new Map<string, Entry>();
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());

  async function ask(entry: Entry): Promise<void> {
    const turn = (entry.asked += 1);
    entry.state = { ...entry.state, isFetching: true };
    tell();
    let next: Loaded<unknown>;
    try {
      next = { data: await entry.load(), error: undefined, isFetching: false };
    } catch (error) {
      next = { data: entry.state.data, error: problemOf(error), isFetching: false };
    }
    if (entry.asked !== turn) return;
    entry.state = next;
    tell();
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  function want(key: string, load: () => Promise<unknown>): Entry {
    const known = entries.get(key);
    if (known) return Object.assign(known, { load });
    const entry: Entry = { state: nothing, load, asked: 0 };
    entries.set(key, entry);
    void ask(entry);
    return entry;
  }

  return {
    subscribe,
    read: (key) => entries.get(key)?.state ?? nothing,
    want,
    known<Value>(key: string, load: () => Promise<Value>) {
      const entry = want(key, load);
      if (entry.state.data === undefined && !entry.state.isFetching) void ask(entry);
      return settled(entry, subscribe) as Promise<Value>;
    },
    async refresh(prefix) {
      await Promise.all(
        [...entries].filter(([key]) => key.startsWith(prefix)).map(([, entry]) => ask(entry)),
      );
    },
    set(key, data) {
      const entry = entries.get(key);
      if (!entry) return;
      entry.asked += 1;
      entry.state = { data, error: undefined, isFetching: false };
      tell();
    },
  };
}

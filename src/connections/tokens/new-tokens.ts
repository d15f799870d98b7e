import { faultOf, sqlState } from '../../kit/db/faults.ts';
import type { Problem } from '../../kit/problem.ts';
import { sleep } from '../../kit/retry.ts';

const waitFirstMs = 100;
const waitMostMs = 1_000;
/** While new tokens wait for the database, callers wait no longer than this. */
const patienceMs = 5_000;
/** And an ending process no longer than this. */
const closeMs = 10_000;

/** New tokens on their way from a provider into the database. */
export interface NewTokens {
  /** Does the work, whose end nobody need wait for: `result` is the problem `late` once the database has been away for a while. */
  begin<Value>(work: (waiting: Waiting) => Promise<Value>, late: () => Problem): Begun<Value>;
  /** Waits for the tokens that are on their way, for a while. */
  close(): Promise<void>;
}

export interface Begun<Value> {
  /** For the callers, who may be told earlier that it takes long. */
  result: Promise<Value>;
  /** Of the work, however it ends. */
  end: Promise<unknown>;
}

/** What tokens do that have to wait for the database. */
export interface Waiting {
  /** Not once the process ends. */
  mayWait: () => boolean;
  onWait: () => void;
}

export function createNewTokens(): NewTokens {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    begin(work, late) {
      const unstored = Promise.withResolvers<never>();
      const onWait = (): void => {
        setTimeout(() => unstored.reject(late()), patienceMs).unref();
      };
      const stored = work({ onWait, mayWait: () => !isClosed });
      const end = stored.catch(() => undefined).finally(() => running.delete(end));
      running.add(end);
      return { result: Promise.race([stored, unstored.promise]), end };
    },
    async close() {
      await Promise.race([Promise.all(running), sleep(closeMs)]);
      isClosed = true;
    },
  };
}

/**
 * Stores new tokens, however long the database is away or answers with what nobody expects: the provider may have ended those that
 * they came for. `store` answers undefined while it cannot, and so does this once it may wait no longer. Throws what another try
 * meets again: a problem, and what the database says of a value.
 */
export async function untilStored<Stored>(
  { mayWait, onWait }: Waiting,
  store: () => Promise<Stored>,
  note: (details: { err: unknown; tries: number }) => void,
): Promise<Stored> {
  for (let pauseMs = waitFirstMs, tries = 1; ; pauseMs = Math.min(waitMostMs, pauseMs * 2), tries += 1) {
    try {
      const stored = await store();
      if (stored !== undefined || !mayWait()) return stored;
    } catch (error) {
      if (!mayPass(error) || !mayWait()) throw error;
      note({ err: error, tries });
    }
    if (tries === 1) onWait();
    await sleep(pauseMs);
  }
}

function mayPass(error: unknown): boolean {
  const fault = faultOf(error);
  return fault === 'unable' || (fault === 'other' && sqlState(error) !== undefined);
}

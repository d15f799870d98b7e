import type { Logger } from './log.ts';
import { sleep } from './retry.ts';

/** Something that is done from time to time, until it is stopped. */
export interface Periodic {
  start(): void;
  /** Waits for what is under way. */
  stop(): Promise<void>;
}

export interface Rounds {
  log: Logger;
  /** For the log: what failed, as the subject of a sentence. */
  what: string;
  everyMs: number;
  /** After a failure; unless told, as ever. */
  againMs?: number;
  /** Before a round that the one before asked for at once. */
  pauseMs?: number;
  /** One round; true where there is more to be done now. */
  round: () => Promise<unknown>;
}

/** Rounds one after the other, the first one at the start. Of failures one after the other the first is told. */
export function createPeriodic({
  log,
  what,
  everyMs,
  againMs = everyMs,
  pauseMs = 0,
  round,
}: Rounds): Periodic {
  const stopping = new AbortController();
  let rounds: Promise<void> = Promise.resolve();
  let isTold = false;

  async function waitAfterRound(): Promise<number> {
    try {
      const more = await round();
      isTold = false;
      return more === true ? pauseMs : everyMs;
    } catch (error) {
      if (!isTold) log.warn({ err: error }, `${what} failed; it is tried again`);
      isTold = true;
      return againMs;
    }
  }

  async function go(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waitMs = await waitAfterRound();
      if (waitMs > 0) await sleep(waitMs, stopping.signal);
    }
  }

  return {
    start() {
      rounds = go();
    },
    async stop() {
      stopping.abort();
      await rounds;
    },
  };
}

/** All of them as one. */
export function together(all: readonly Periodic[]): Periodic {
  return {
    start: () => all.forEach((one) => one.start()),
    async stop() {
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}

/**
 * An answer beyond so many bytes is handed over at its turn: to decode, parse and look at fewer takes a millisecond or two, and nearly
 * every answer has fewer.
 */
export const turnBytes = 256 * 1024;
/** However long one took: whoever waits behind it is waited for, too. */
const mostRestMs = 1_000;

export interface HandOver {
  /** Calls `give` now, or when those before it have been served; not any more once what it returns was called. */
  add(give: () => void): () => void;
}

/**
 * Hands large answers over one after another: what is made of each holds the event loop, and what ends at once would hold it for as long
 * as all of them together. Behind each the loop has as much time for everything else as it took.
 */
export function createHandOver(): HandOver {
  const waiting = new Set<() => void>();
  let isResting = false;

  function next(): void {
    const [give] = waiting;
    isResting = give !== undefined;
    if (!give) return;
    waiting.delete(give);
    const begun = performance.now();
    // What its caller does with it at once is over by then.
    setImmediate(() => setTimeout(next, Math.min(performance.now() - begun, mostRestMs)));
    give();
  }

  return {
    add(give) {
      waiting.add(give);
      if (!isResting) next();
      return () => void waiting.delete(give);
    },
  };
}

/** Of this process. */
export const handOver = createHandOver();

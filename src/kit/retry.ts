/** Exponential backoff with full jitter: a random time between zero and base × 2^attempt, at most the cap. In milliseconds. */
export function backoffMs(
  attempt: number,
  { baseMs = 1_000, capMs = 15 * 60_000, random = Math.random } = {},
): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * random());
}

/** Waits; an aborted signal ends the wait early without an error. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

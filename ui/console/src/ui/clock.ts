import { useCallback, useSyncExternalStore } from 'react';

const minuteMs = 60_000;

/** What is shown of times that are so long ago, or in so long: what hears that time went on, and the time. */
const shown = new Map<() => void, number>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** A time within a minute is told in seconds; it may come so near before the next minute. */
const isNear = (at: number): boolean => Math.abs(at - Date.now()) < 2 * minuteMs;

/** One timer for the page: none while nobody sees it, or it shows no such time. */
function wind(): void {
  clearTimeout(timer);
  timer = undefined;
  if (document.hidden || shown.size === 0) return;
  const everyMs = [...shown.values()].some(isNear) ? 1000 : minuteMs;
  timer = setTimeout(tick, everyMs - (Date.now() % everyMs));
}

function tick(): void {
  for (const listener of shown.keys()) listener();
  wind();
}

document.addEventListener('visibilitychange', () => (document.hidden ? wind() : tick()));

/** What is said of a time, as time goes on: who shows it is drawn again when the words change. */
export function useWords(at: number, words: () => string): string {
  const listen = useCallback(
    (listener: () => void) => {
      shown.set(listener, at);
      wind();
      return () => {
        shown.delete(listener);
        wind();
      };
    },
    [at],
  );
  return useSyncExternalStore(listen, words);
}

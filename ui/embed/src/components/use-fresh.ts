import { useEffect } from 'react';
import { useSvc } from '../hooks/provider.tsx';

/** How often a page that is looked at asks again. */
export const freshEveryMs = 60_000;
/** Focus and visibility come together. */
const notWithinMs = 1_000;

const changing = ['integration', 'installation', 'connection'];

/** Looks again at what others may have changed: when the person comes back to the page, and every minute where `every` says so. */
export function useFresh({
  every = false,
  keys = changing,
}: { every?: boolean; keys?: readonly string[] } = {}): void {
  const { store } = useSvc();
  const asked = keys.join(' ');
  useEffect(() => {
    let last = Date.now();
    const look = (): void => {
      if (asked === '' || document.visibilityState !== 'visible' || Date.now() - last < notWithinMs) return;
      last = Date.now();
      for (const key of asked.split(' ')) void store.refresh(key);
    };
    const timer = every ? setInterval(look, freshEveryMs) : undefined;
    document.addEventListener('visibilitychange', look);
    addEventListener('focus', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
      removeEventListener('focus', look);
    };
  }, [store, every, asked]);
}

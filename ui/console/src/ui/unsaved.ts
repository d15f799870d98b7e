import { useEffect, useId } from 'react';
import { createStore } from './store.ts';

/** What holds text that was typed and not sent. `shell/ask-before-leaving.tsx` asks before it is lost. */
export const unsaved = createStore<ReadonlySet<string>>(new Set());

/** For what holds text: whether there is some that was not sent. It is forgotten with what holds it. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isUnsaved) return undefined;
    unsaved.set(new Set([...unsaved.get(), id]));
    return () => unsaved.set(new Set([...unsaved.get()].filter((other) => other !== id)));
  }, [id, isUnsaved]);
}

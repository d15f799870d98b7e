import { createContext, useContext, useEffect, useId, useMemo, useState } from 'react';
import { createStore, type Store } from './store.ts';

type Holding = Store<ReadonlySet<string>>;

/** What holds text that was typed and not sent. `shell/ask-before-leaving.tsx` asks before it is lost. */
export const unsaved: Holding = createStore<ReadonlySet<string>>(new Set());

/** Who asks before text is lost: the page, and each window that the text is in. */
export const Askers = createContext<readonly Holding[]>([unsaved]);

/** For a window: whether text in it was not sent, and the askers of what is in it. */
export function useAsker(): { askers: readonly Holding[]; isHeld: () => boolean } {
  const outer = useContext(Askers);
  const [own] = useState(() => createStore<ReadonlySet<string>>(new Set()));
  const askers = useMemo(() => [...outer, own], [outer, own]);
  return { askers, isHeld: () => own.get().size > 0 };
}

/** For what holds text: whether there is some that was not sent. It is forgotten with what holds it. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  const askers = useContext(Askers);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    for (const one of askers) one.set(new Set([...one.get(), id]));
    return () => {
      for (const one of askers) one.set(new Set([...one.get()].filter((other) => other !== id)));
    };
  }, [id, isUnsaved, askers]);
}

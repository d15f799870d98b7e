import { useIsMutating } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useStore } from '../ui/store.ts';
import { unsaved } from '../ui/unsaved.ts';

/** Whether the page holds text that was typed and that no answer has taken. A form holds none while it is sent, and again once it is refused. */
export function useHolding(): boolean {
  const isTyped = useStore(unsaved).size > 0;
  const isHeld = useIsMutating() > 0 || isTyped;
  const [wasHeld, setWasHeld] = useState(false);
  useEffect(() => setWasHeld(isHeld), [isHeld]);
  return isHeld || wasHeld;
}

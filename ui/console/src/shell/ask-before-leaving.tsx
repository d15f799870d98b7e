import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { LoseText } from '../ui/dialog.tsx';
import { useStore } from '../ui/store.ts';
import { unsaved } from '../ui/unsaved.ts';

const isHeld = (): boolean => unsaved.get().size > 0;

/** Asks before a page is left in which text was typed and not sent: here for another page of the console, by the browser for the rest. */
export function AskBeforeLeaving(): ReactNode {
  const held = useStore(unsaved);
  const blocker = useBlocker({
    shouldBlockFn: isHeld,
    enableBeforeUnload: isHeld,
    disabled: held.size === 0,
    withResolver: true,
  });
  return (
    <LoseText
      verb="Leave"
      isOpen={blocker.status === 'blocked'}
      onLose={() => blocker.proceed?.()}
      onKeep={() => blocker.reset?.()}
    />
  );
}

import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
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
  const isOpen = blocker.status === 'blocked';
  return (
    <Dialog title="Leave without saving?" isOpen={isOpen} onClose={() => blocker.reset?.()}>
      <div className="stack">
        <p className="muted">What you typed in this page was not saved. It is lost when you leave.</p>
        <div className="form-actions">
          <Button look="danger" onClick={() => blocker.proceed?.()}>
            Leave
          </Button>
          <Button look="primary" onClick={() => blocker.reset?.()}>
            Stay
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

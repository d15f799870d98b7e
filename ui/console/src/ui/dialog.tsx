import * as ak from '@ariakit/react';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Askers, useAsker } from './unsaved.ts';

/** A window above the page. Escape closes it, unless `onClose` is missing; where text in it was not sent, it asks first. */
export function Dialog(props: {
  title: string;
  isOpen: boolean;
  onClose?: () => void;
  isWide?: boolean;
  children: ReactNode;
}): ReactNode {
  const { title, isOpen, onClose, isWide = false, children } = props;
  const [isAsking, setAsking] = useState(false);
  const { askers, isHeld } = useAsker();
  const close = (event: Event): void => {
    if (!isHeld()) return onClose?.();
    event.preventDefault();
    setAsking(true);
  };
  return (
    <ak.Dialog
      open={isOpen}
      onClose={close}
      hideOnEscape={onClose !== undefined}
      hideOnInteractOutside={false}
      backdrop={<div className="backdrop" />}
      className={isWide ? 'dialog dialog-wide' : 'dialog'}
      unmountOnHide
    >
      <header className="dialog-head">
        <ak.DialogHeading className="dialog-title">{title}</ak.DialogHeading>
        {onClose && (
          <ak.DialogDismiss className="button button-quiet button-icon" aria-label="Close">
            <X size={16} aria-hidden />
          </ak.DialogDismiss>
        )}
      </header>
      <Askers value={askers}>{children}</Askers>
      {isAsking && (
        <LoseText verb="Close" isOpen onLose={() => onClose?.()} onKeep={() => setAsking(false)} />
      )}
    </ak.Dialog>
  );
}

/** Asks whether text that was typed and not sent may be lost. */
export function LoseText(props: {
  /** What loses it. */
  verb: 'Leave' | 'Close';
  isOpen: boolean;
  onLose: () => void;
  onKeep: () => void;
}): ReactNode {
  const { verb, isOpen, onLose, onKeep } = props;
  return (
    <Dialog title={`${verb} without saving?`} isOpen={isOpen} onClose={onKeep}>
      <div className="stack">
        <p className="muted">What you typed was not saved. It is lost then.</p>
        <div className="form-actions">
          <Button look="danger" onClick={onLose}>
            {verb}
          </Button>
          <Button look="primary" onClick={onKeep}>
            Stay
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

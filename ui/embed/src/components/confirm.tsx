import { useId, useRef, type ReactNode } from 'react';
import type { SvcError } from '@svc/client';
import { useText } from '../text/index.tsx';
import { BusyButton, Button, Failure } from './ui.tsx';

interface ConfirmProps {
  /** On the button that asks, and on the one that does it. */
  action: string;
  title: string;
  text: string;
  look: 'quiet' | 'danger';
  isPending: boolean;
  error: SvcError | undefined;
  onConfirm: () => void;
}

/** A button that asks before it does what cannot be taken back. */
export function Confirm({ action, title, text, look, isPending, error, onConfirm }: ConfirmProps): ReactNode {
  const t = useText();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <Button look={look} onClick={() => dialog.current?.showModal()}>
        {action}
      </Button>
      <dialog ref={dialog} className="svc-dialog" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <p>{text}</p>
        {error ? <Failure error={error} /> : null}
        <div className="svc-actions svc-actions-end">
          <Button onClick={() => dialog.current?.close()}>{t('cancel')}</Button>
          <BusyButton look="danger" busy={isPending} busyText={t('installing')} onClick={onConfirm}>
            {action}
          </BusyButton>
        </div>
      </dialog>
    </>
  );
}

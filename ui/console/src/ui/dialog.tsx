import * as ak from '@ariakit/react';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';

/** A window above the page. Escape closes it, unless `onClose` is missing. */
export function Dialog(props: {
  title: string;
  isOpen: boolean;
  onClose?: () => void;
  isWide?: boolean;
  children: ReactNode;
}): ReactNode {
  const { title, isOpen, onClose, isWide = false, children } = props;
  return (
    <ak.Dialog
      open={isOpen}
      onClose={() => onClose?.()}
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
      {children}
    </ak.Dialog>
  );
}

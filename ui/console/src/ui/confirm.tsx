import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

/** Asks before it does something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  /** What it does, on the button. */
  verb: string;
  children: ReactNode;
  act: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
}): ReactNode {
  const { title, verb, children, act, onDone, onClose } = props;
  const { mutate, isPending, error } = useMutation({ mutationFn: act, onSuccess: onDone });
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Form
        submit={verb}
        look="danger"
        isBusy={isPending}
        error={error}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <div>{children}</div>
      </Form>
    </Dialog>
  );
}

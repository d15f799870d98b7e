import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';

/** Sets another password; the other sessions of the person end. */
export function ChangePassword({ isFirst, onClose }: { isFirst: boolean; onClose: () => void }): ReactNode {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/person:change-password', {
          body: { newPassword, ...(isFirst ? {} : { currentPassword }) },
        }),
      ),
    onSuccess: () => {
      toast('The password is changed; your other sessions have ended');
      onClose();
    },
  });
  return (
    <Dialog title="Change the password" isOpen onClose={onClose}>
      <Form
        submit="Change the password"
        isBusy={isPending}
        error={error}
        fields={['currentPassword', 'newPassword']}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        {!isFirst && (
          <TextField
            label="Password until now"
            type="password"
            autoComplete="current-password"
            value={currentPassword}
            issue={issueAt(error, 'currentPassword')}
            onChange={setCurrent}
          />
        )}
        <TextField
          label="New password"
          type="password"
          hint="At least 12 characters. Your other sessions end."
          autoComplete="new-password"
          value={newPassword}
          issue={issueAt(error, 'newPassword')}
          onChange={setNew}
        />
      </Form>
    </Dialog>
  );
}

import { useMutation } from '@tanstack/react-query';
import type { Destination, WebhookSecrets } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** A new signing key; the former one holds for some hours beside it. */
export function RotateDestination(props: {
  project: string;
  destination: Destination;
  onClose: () => void;
}): ReactNode {
  const { project, destination, onClose } = props;
  const [hours, setHours] = useState('24');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/destinations/{destination}:rotate', {
          params: { path: { projectIdOrName: project, destination: destination.id } },
          body: { overlapHours: Number(hours) },
        }),
      ),
    gcTime: 0,
  });
  return (
    <Dialog title={`New signing key of ${destination.name}`} isOpen onClose={onClose}>
      {data ? (
        <div className="stack">
          <p>Every message is signed with it from now on. Give it to the receiver.</p>
          <Code
            text={(data.secrets as WebhookSecrets | undefined)?.webhookSigningKey ?? ''}
            label="Signing key"
          />
        </div>
      ) : (
        <Form
          submit="Make a new key"
          isBusy={isPending}
          error={error}
          fields={['overlapHours']}
          onSubmit={() => mutate()}
          onCancel={onClose}
        >
          <TextField
            label="Hours for which the former key signs, too"
            hint="The receiver is changed meanwhile. With 0 all former keys end at once."
            inputMode="numeric"
            value={hours}
            issue={issueAt(error, 'overlapHours')}
            onChange={setHours}
          />
        </Form>
      )}
    </Dialog>
  );
}

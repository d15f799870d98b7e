import type { Integration } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';

/** Deletes an integration with all its installations; its name is typed, so that it is meant. */
export function DeleteIntegration(props: {
  project: string;
  integration: Integration;
  onDone: () => void;
  onClose: () => void;
}): ReactNode {
  const { project, integration, onDone, onClose } = props;
  const { name } = integration;
  const [typed, setTyped] = useState('');
  const { mutate, isPending, error } = useAct({
    project,
    nouns: ['integrations', 'installations'],
    said: 'Deleted',
    act: () =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}', {
          params: { path: { projectIdOrName: project, integrationIdOrName: integration.id } },
        }),
      ),
    onDone,
  });
  return (
    <Dialog title={`Delete ${name}?`} isOpen onClose={onClose}>
      <Form
        submit="Delete it for good"
        look="danger"
        isBusy={isPending}
        error={error}
        disabledFor={typed === name ? undefined : 'Type its name first'}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <p className="muted">
          Every installation of it goes with it: nothing of it is read or written any more. The connections of
          your customers stay.
        </p>
        <TextField
          label={`Type ${name} to go on`}
          autoComplete="off"
          autoFocus
          value={typed}
          onChange={setTyped}
        />
      </Form>
    </Dialog>
  );
}

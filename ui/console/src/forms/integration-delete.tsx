import type { Integration } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { installedQuery } from '../pages/installations/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';

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
        <Ends project={project} integration={integration} />
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

/** How many customers lose it, and who they are. */
function Ends({ project, integration }: { project: string; integration: Integration }): ReactNode {
  const { data, error, refetch } = useQuery(installedQuery(project, integration.id));
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={2} />;
  const { count, groups } = data;
  if (groups.length === 0) return <p className="muted">Nobody has installed it.</p>;
  return (
    <p>
      <strong>
        {count} {count === '1' ? 'installation goes' : 'installations go'} with it
      </strong>
      , of {groups.join(', ')}
      {count === String(groups.length) ? '' : ' …'}: nothing of it is read or written any more, and its
      configs are gone. The connections of your customers stay.
    </p>
  );
}

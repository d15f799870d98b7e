import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { sessionQuery } from '../data/session.ts';
import { Code } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

/** Makes a project, and shows its first key, once. */
export function CreateProject({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [appName, setAppName] = useState('');
  const { mutate, data, isPending, error } = useMutation({
    mutationFn: () => answer(api.POST('/v1/projects', { body: { name, ...(appName ? { appName } : {}) } })),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  if (data)
    return (
      <Dialog title={`${data.name} is there`} isOpen onClose={onClose}>
        <div className="stack">
          <p className="muted">Its first key is shown only now. It may do everything in the project.</p>
          <Code text={data.apiKey.key ?? ''} label="Key" />
          <div className="form-actions">
            <Link to="/projects/$project" params={{ project: data.name }} className="button button-primary">
              To the project
            </Link>
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="New project" isOpen onClose={onClose}>
      <Form
        submit="Make the project"
        isBusy={isPending}
        error={error}
        fields={['name', 'appName']}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          hint="Stands in every path of the API, such as my-app-production."
          required
          autoFocus
          value={name}
          issue={issueAt(error, 'name')}
          onChange={setName}
        />
        <TextField
          label="Name of your application"
          hint="Your customers see it where they connect."
          value={appName}
          issue={issueAt(error, 'appName')}
          onChange={setAppName}
        />
      </Form>
    </Dialog>
  );
}

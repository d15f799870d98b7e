import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CreateDestinationRequest, DestinationType } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { kindNames } from '../pages/destinations/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';
import { DestinationFields } from './destination-field.tsx';
import { kinds, pathsOf, valuesOf, type Typed } from './destination-fields.ts';

/** A new destination of any kind. What was typed for one kind is kept while another is looked at. */
export function CreateDestination({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [type, setType] = useState<DestinationType>('webhook');
  const [name, setName] = useState('');
  const [typed, setTyped] = useState<Typed>({});
  const [secret, setSecret] = useState<Typed>({});
  const { mutate, isPending, error } = useCreation(project);
  const create = (): void => {
    const secrets = valuesOf(kinds[type].secrets, secret);
    const body = { name: name.trim(), type, metadata: valuesOf(kinds[type].metadata, typed) };
    // What is missing or wrong, the server says at its field.
    mutate({ ...body, ...(Object.keys(secrets).length > 0 ? { secrets } : {}) } as CreateDestinationRequest);
  };
  return (
    <Dialog title="New destination" isOpen onClose={onClose}>
      <Form
        submit="Make it"
        isBusy={isPending}
        error={error}
        fields={['name', ...pathsOf(type)]}
        onSubmit={create}
        onCancel={onClose}
      >
        <SelectField
          label="Kind"
          hint={kinds[type].about}
          value={type}
          options={Object.entries(kindNames).map(([value, label]) => ({ value, label }))}
          onChange={(value) => setType(value as DestinationType)}
        />
        <TextField
          label="Name"
          hint="Manifests and configs name it. Letters, digits and dashes."
          value={name}
          issue={issueAt(error, 'name')}
          onChange={setName}
        />
        <DestinationFields type={type} {...{ typed, setTyped, secret, setSecret, error }} />
      </Form>
    </Dialog>
  );
}

function useCreation(project: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (body: CreateDestinationRequest) =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/destinations', {
          params: { path: { projectIdOrName: project } },
          body,
        }),
      ),
    onSuccess: async ({ id }) => {
      toast('The destination is made');
      void client.invalidateQueries({ queryKey: [project, 'destinations'] });
      await navigate({
        to: '/projects/$project/destinations/$destination',
        params: { project, destination: id },
      });
    },
  });
}

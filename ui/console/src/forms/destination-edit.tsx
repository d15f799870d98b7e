import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Destination, UpdateDestinationRequest } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';
import { DestinationFields } from './destination-field.tsx';
import { kinds, pathsOf, typedOf, valueOf, type KindField, type Typed } from './destination-fields.ts';

interface EditProps {
  project: string;
  destination: Destination;
  onClose: () => void;
}

/** Changes a destination: only what was changed is sent, so that what somebody else changes meanwhile stays. */
export function EditDestination({ project, destination, onClose }: EditProps): ReactNode {
  const { metadata, secrets } = kinds[destination.type];
  const [before] = useState(() => typedOf(metadata, destination.metadata as Record<string, unknown>));
  const [name, setName] = useState(destination.name);
  const [typed, setTyped] = useState(before);
  const [secret, setSecret] = useState<Typed>({});
  const changed: UpdateDestinationRequest['destination'] = {
    ...(name.trim() === destination.name ? {} : { name: name.trim() }),
    ...partOf('metadata', changedOf(metadata, before, typed)),
    ...partOf('secrets', changedOf(secrets, {}, secret)),
  };
  const { mutate, isPending, error } = useChange({ project, destination, onClose });
  return (
    <Dialog title={`Change ${destination.name}`} isOpen onClose={onClose}>
      <Form
        submit="Save"
        isBusy={isPending}
        error={error}
        fields={['name', 'destination.name', ...pathsOf(destination.type)]}
        disabledFor={Object.keys(changed).length === 0 ? 'Nothing is changed yet' : undefined}
        onSubmit={() => mutate(changed)}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          hint="Manifests and configs name it: they must be changed, too."
          value={name}
          issue={issueAt(error, 'destination.name') ?? issueAt(error, 'name')}
          onChange={setName}
        />
        <DestinationFields
          isKept
          type={destination.type}
          {...{ typed, setTyped, secret, setSecret, error }}
        />
      </Form>
    </Dialog>
  );
}

function useChange({ project, destination, onClose }: EditProps) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (changed: UpdateDestinationRequest['destination']) =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: { path: { projectIdOrName: project, destination: destination.id } },
          body: { updateMask: maskOf(changed), destination: changed },
        }),
      ),
    onSuccess: async () => {
      toast('The destination is changed');
      onClose();
      await client.invalidateQueries({ queryKey: [project, 'destinations'] });
    },
  });
}

const maskOf = ({ name, metadata = {}, secrets = {} }: UpdateDestinationRequest['destination']): string[] => [
  ...(name === undefined ? [] : ['name']),
  ...Object.keys(metadata).map((field) => `metadata.${field}`),
  ...Object.keys(secrets).map((field) => `secrets.${field}`),
];

const partOf = (name: string, values: Record<string, unknown>): Record<string, unknown> =>
  Object.keys(values).length > 0 ? { [name]: values } : {};

const changedOf = (fields: readonly KindField[], before: Typed, typed: Typed): Record<string, unknown> =>
  Object.fromEntries(
    fields
      .filter(({ name }) => (typed[name] ?? '') !== (before[name] ?? ''))
      .map((field) => [field.name, valueOf(field, typed[field.name] ?? '')]),
  );

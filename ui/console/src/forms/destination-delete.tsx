import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Destination } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';

/** Deletes a destination, on demand with what waits for it. */
export function DeleteDestination(props: {
  project: string;
  destination: Destination;
  onClose: () => void;
}): ReactNode {
  const { project, destination, onClose } = props;
  const [cancelPending, setCancelPending] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: {
            path: { projectIdOrName: project, destination: destination.id },
            query: { cancelPending },
          },
        }),
      ),
    onSuccess: async () => {
      toast('The destination is deleted');
      await navigate({ to: '/projects/$project/destinations', params: { project } });
      await client.invalidateQueries({ queryKey: [project, 'destinations'] });
    },
  });
  return (
    <Dialog title={`Delete ${destination.name}`} isOpen onClose={onClose}>
      <Form
        submit="Delete it"
        look="danger"
        isBusy={isPending}
        error={error}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <p>Reads whose config names it wait until there is one of that name again, or another config.</p>
        <CheckField
          label="Cancel what waits for it"
          hint="Without this it is refused while deliveries wait."
          checked={cancelPending}
          onChange={setCancelPending}
        />
      </Form>
    </Dialog>
  );
}

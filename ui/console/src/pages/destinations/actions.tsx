import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Destination } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { DeleteDestination } from '../../forms/destination-delete.tsx';
import { EditDestination } from '../../forms/destination-edit.tsx';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toast } from '../../ui/toast.tsx';
import { isFailing } from './queries.ts';
import { SendWaiting } from './send-waiting.tsx';

/** What can be done about a destination. */
export function DestinationActions(props: { project: string; destination: Destination }): ReactNode {
  const { project, destination } = props;
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const client = useQueryClient();
  const notAllowed = useNotAllowed(project, 'develop');
  const mayNotMend = useNotAllowed(project, 'remediate');
  const isDisabled = destination.status === 'disabled';
  const params = { path: { projectIdOrName: project, destination: destination.id } };
  const turn = useMutation({
    mutationFn: () =>
      answer(
        isDisabled
          ? api.POST('/v1/projects/{projectIdOrName}/destinations/{destination}:enable', { params })
          : api.POST('/v1/projects/{projectIdOrName}/destinations/{destination}:disable', { params }),
      ),
    onSuccess: async () => {
      toast(isDisabled ? 'It is enabled: what waited is delivered' : 'It is disabled: deliveries wait');
      await client.invalidateQueries({ queryKey: [project, 'destinations'] });
    },
  });
  const close = (): void => setOpen(undefined);
  return (
    <>
      {isFailing(destination) && <SendWaiting project={project} destination={destination.id} />}
      <Button
        look={isDisabled ? 'primary' : 'plain'}
        isBusy={turn.isPending}
        disabledFor={mayNotMend}
        onClick={() => turn.mutate()}
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </Button>
      <Button disabledFor={notAllowed} onClick={() => setOpen('edit')}>
        Change
      </Button>
      <Button look="danger" disabledFor={notAllowed} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && <EditDestination {...props} onClose={close} />}
      {open === 'delete' && <DeleteDestination {...props} onClose={close} />}
      {turn.error && <Problem error={turn.error} />}
    </>
  );
}

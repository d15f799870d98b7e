import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Connection } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { ConnectionLink } from '../../forms/connection-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';

/** What can be done about a connection. */
export function ConnectionActions(props: { project: string; connection: Connection }): ReactNode {
  const { project, connection } = props;
  const [open, setOpen] = useState<'link' | 'delete'>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const notAllowed = useNotAllowed(project, 'develop');
  const close = (): void => setOpen(undefined);
  const onDeleted = async (): Promise<void> => {
    toast('The connection is deleted');
    await navigate({ to: '/projects/$project/connections', params: { project } });
    await client.invalidateQueries({ queryKey: [project] });
  };
  return (
    <>
      {!connection.isAside && (
        <Button
          look={connection.status === 'bad_credentials' ? 'primary' : 'plain'}
          disabledFor={notAllowed}
          onClick={() => setOpen('link')}
        >
          Connect again
        </Button>
      )}
      <Button look="danger" disabledFor={notAllowed} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'link' && <ConnectionLink {...props} onClose={close} />}
      {open === 'delete' && (
        <Confirm
          title="Delete the connection"
          verb="Delete it"
          act={() =>
            answer(
              api.DELETE('/v1/projects/{projectIdOrName}/connections/{connectionId}', {
                params: { path: { projectIdOrName: project, connectionId: connection.id } },
              }),
            )
          }
          onDone={() => void onDeleted()}
          onClose={close}
        >
          <p>
            The access that {connection.consumer.consumerName} gave is ended at {connection.provider}.
            Installations of {connection.group.groupName} that work with it become unhealthy: nothing is read
            or written for them any more.
          </p>
        </Confirm>
      )}
    </>
  );
}

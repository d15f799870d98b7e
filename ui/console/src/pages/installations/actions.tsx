import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';

/** What can be done about an installation. */
export function InstallationActions(props: { project: string; installation: Installation }): ReactNode {
  const { project, installation } = props;
  const [isDeleting, setDeleting] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const notAllowed = useNotAllowed(project, 'develop');
  const { id: installationId, integrationId, group } = installation;
  const onDeleted = async (): Promise<void> => {
    toast('The installation is deleted');
    await navigate({ to: '/projects/$project/installations', params: { project } });
    await client.invalidateQueries({ queryKey: [project] });
  };
  return (
    <>
      <Button look="danger" disabledFor={notAllowed} onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {isDeleting && (
        <Confirm
          title={`Delete the installation of ${group.groupName}`}
          verb="Delete it"
          act={() =>
            answer(
              api.DELETE(
                '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}',
                { params: { path: { projectIdOrName: project, integrationId, installationId } } },
              ),
            )
          }
          onDone={() => void onDeleted()}
          onClose={() => setDeleting(false)}
        >
          <p>
            Nothing is read or written for {group.groupName} by this integration any more. Its connection
            goes, too, unless another installation uses it, and its access at the provider with it.
          </p>
        </Confirm>
      )}
    </>
  );
}

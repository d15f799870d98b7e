import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Installation, ReadState } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toast } from '../../ui/toast.tsx';

interface Given {
  project: string;
  installation: Installation;
  feed: ReadState;
}

/** Pause or go on, and read now. */
export function ReadActions(given: Given): ReactNode {
  const { project, feed } = given;
  const notAllowed = useNotAllowed(project, 'remediate');
  const pausing = usePausing(given);
  const running = useRunning(given);
  const { reason } = feed.paused ?? {};
  const isGone = reason === 'removed' ? 'Deploy the integration with it again' : undefined;
  const isOff = feed.disabled ? 'It is switched off in the config' : undefined;
  return (
    <div className="row">
      <Button
        isBusy={pausing.isPending}
        disabledFor={notAllowed ?? isGone}
        look={reason === 'failures' ? 'primary' : 'plain'}
        onClick={() => pausing.mutate()}
      >
        {feed.paused ? 'Go on' : 'Pause'}
      </Button>
      <Button
        isBusy={running.isPending}
        disabledFor={notAllowed ?? isGone ?? isOff}
        onClick={() => running.mutate()}
      >
        Read now
      </Button>
      {(pausing.error ?? running.error) && <Problem error={(pausing.error ?? running.error) as Error} />}
    </div>
  );
}

function usePausing({ project, installation, feed }: Given) {
  const client = useQueryClient();
  const { id: installationId, integrationId } = installation;
  const params = { path: { projectIdOrName: project, integrationId, installationId } };
  const { objectName, paused } = feed;
  // One that stands since all of the installation was paused goes on with all of it.
  const body = paused?.reason === 'installation' ? {} : { objects: [objectName] };
  const base =
    '/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}';
  return useMutation({
    mutationFn: () =>
      answer(
        paused ? api.POST(`${base}:unpause`, { params, body }) : api.POST(`${base}:pause`, { params, body }),
      ),
    onSuccess: async () => {
      toast(paused ? 'It goes on' : 'It is paused');
      await client.invalidateQueries({ queryKey: [project, 'installations', installationId] });
    },
  });
}

function useRunning({ project, installation, feed }: Given) {
  const navigate = useNavigate();
  const { integrationId, group } = installation;
  return useMutation({
    mutationFn: () =>
      answer(
        api.POST('/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}', {
          params: { path: { projectIdOrName: project, integrationId, objectName: feed.objectName } },
          body: {
            groupRef: group.groupRef,
            mode: 'async',
            // What the schedule has not read yet; of an object that it never read, everything.
            ...(feed.watermark === undefined ? {} : { sinceTimestamp: feed.watermark }),
          },
        }),
      ),
    onSuccess: async ({ operationId }) => {
      toast('It is being read');
      await navigate({ to: '/projects/$project/operations/$operationId', params: { project, operationId } });
    },
  });
}

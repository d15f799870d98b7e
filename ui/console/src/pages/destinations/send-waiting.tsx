import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toast } from '../../ui/toast.tsx';

/**
 * Sends at once all that waits for a destination, and what was given up there: for who has mended what is behind it. Enabling does
 * that also where it is enabled already.
 */
export function SendWaiting({ project, destination }: { project: string; destination: string }): ReactNode {
  const client = useQueryClient();
  const notAllowed = useNotAllowed(project, 'remediate');
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/destinations/{destination}:enable', {
          params: { path: { projectIdOrName: project, destination } },
        }),
      ),
    onSuccess: async () => {
      toast('What waited is sent now');
      await Promise.all(
        ['destinations', 'deliveries'].map((noun) => client.invalidateQueries({ queryKey: [project, noun] })),
      );
    },
  });
  return (
    <>
      <Button look="primary" isBusy={isPending} disabledFor={notAllowed} onClick={() => mutate()}>
        Send what waits now
      </Button>
      {error && <Problem error={error} />}
    </>
  );
}

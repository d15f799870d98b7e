import { useMutation } from '@tanstack/react-query';
import type { Destination } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { duration } from '../../ui/time.tsx';

/** Sends one message without records, and shows what became of it. */
export function Trial({ project, destination }: { project: string; destination: Destination }): ReactNode {
  const notAllowed = useNotAllowed(project, 'remediate');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/destinations/{destination}:test', {
          params: { path: { projectIdOrName: project, destination: destination.id } },
        }),
      ),
  });
  return (
    <Section
      title="Test"
      beside={
        <Button isBusy={isPending} disabledFor={notAllowed} onClick={() => mutate()}>
          Send a test
        </Button>
      }
    >
      <div role="status" className="stack">
        {error && <Problem error={error} />}
        {!data && !error && <p className="muted">One message without records, also while it is disabled.</p>}
        {data && (
          <>
            <p className="row">
              <Badge tone={data.success ? 'good' : 'bad'}>
                {data.success ? 'It was taken' : 'It was not taken'}
              </Badge>
              {data.status !== undefined && <span>Answered {data.status}</span>}
              <span>{data.error}</span>
              <span className="muted">{duration(data.latencyMs)}</span>
            </p>
            {data.answer && <Code text={data.answer} label="Answer" />}
          </>
        )}
      </div>
    </Section>
  );
}

import { useMutation } from '@tanstack/react-query';
import type { Destination } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useNotAllowed } from '../../data/session.ts';
import { kinds } from '../../forms/destination-fields.ts';
import { RotateDestination } from '../../forms/destination-rotate.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';

/** What it proves itself with; shown on demand to who may, which the audit log tells. */
export function Secrets({ project, destination }: { project: string; destination: Destination }): ReactNode {
  const notAllowed = useNotAllowed(project, 'develop');
  const [isRotating, setRotating] = useState(false);
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: {
            path: { projectIdOrName: project, destination: destination.id },
            query: { includeSecrets: true },
          },
        }),
      ),
    // Not kept once it is out of sight.
    gcTime: 0,
  });
  return (
    <Section
      title="Secrets"
      beside={
        <div className="row">
          <Button isBusy={isPending} disabledFor={notAllowed} onClick={() => (data ? reset() : mutate())}>
            {data ? 'Hide' : 'Show'}
          </Button>
          {destination.type === 'webhook' && (
            <Button disabledFor={notAllowed} onClick={() => setRotating(true)}>
              Rotate …
            </Button>
          )}
        </div>
      }
    >
      {error && <Problem error={error} />}
      {!data && !error && <p className="muted">Kept encrypted. Who shows them is told in the audit log.</p>}
      {data && <Shown destination={data} />}
      {isRotating && (
        <RotateDestination
          project={project}
          destination={destination}
          onClose={() => {
            setRotating(false);
            reset();
          }}
        />
      )}
    </Section>
  );
}

function Shown({ destination: { type, secrets = {} } }: { destination: Destination }): ReactNode {
  const values = secrets as Record<string, string | undefined>;
  return (
    <div className="stack">
      {kinds[type].secrets.map(
        ({ name, label }) =>
          values[name] !== undefined && (
            <div key={name}>
              <p className="strong">{label}</p>
              <Code text={values[name]} label={label} />
            </div>
          ),
      )}
    </div>
  );
}

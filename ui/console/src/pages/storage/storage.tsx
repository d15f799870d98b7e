import { useQuery } from '@tanstack/react-query';
import type { Storage } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Erase } from '../../forms/erasure.tsx';
import { KeepDays } from '../../forms/keep-days.tsx';
import { Button } from '../../ui/button.tsx';
import { Loading, Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { bytesOf, kinds } from './kinds.ts';

/** What the project holds, for how long, and how it is erased. */
export function StoragePage(): ReactNode {
  const project = useProject();
  const [isErasing, setErasing] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  const { data, error, refetch } = useQuery({
    queryKey: [project, 'storage'],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/storage', {
          params: { path: { projectIdOrName: project } },
        }),
      ),
  });
  return (
    <Page
      title="Storage and retention"
      about="What is kept of past work. What is older than its days is removed by itself."
    >
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={8} />}
      {data && (
        <>
          <Held held={data.kinds} />
          <Section title="How long it is kept">
            <KeepDays project={project} held={data.kinds} />
          </Section>
          <Section title="Erase">
            <div className="card row row-apart">
              <p className="muted">
                Erases what was kept of one of your customers, or of the whole project. Connections,
                installations and keys stay.
              </p>
              <Button look="danger" disabledFor={notAllowed} onClick={() => setErasing(true)}>
                Erase …
              </Button>
            </div>
          </Section>
        </>
      )}
      {isErasing && <Erase project={project} onClose={() => setErasing(false)} />}
    </Page>
  );
}

function Held({ held }: { held: Storage['kinds'] }): ReactNode {
  return (
    <div className="table-frame">
      <table className="table table-text" aria-label="What is held">
        <colgroup>
          <col className="col-wide" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col" className="end">
              Rows
            </th>
            <th scope="col" className="end">
              Size
            </th>
            <th scope="col" className="end">
              Kept for
            </th>
          </tr>
        </thead>
        <tbody>
          {held.map(({ kind, rows, bytes, keepDays, projectKeepDays, isEstimate }) => (
            <tr key={kind}>
              <td>
                <span className="strong">{kinds[kind][0]}</span>{' '}
                <span className="muted">{kinds[kind][1]}</span>
              </td>
              <td className="end">
                {isEstimate && 'about '}
                {rows.toLocaleString()}
              </td>
              <td className="end">{bytesOf(bytes)}</td>
              <td className="end">{projectKeepDays ?? keepDays} days</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

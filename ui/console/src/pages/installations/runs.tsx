import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Operation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { stateOf } from '../operations/queries.ts';

interface Given {
  project: string;
  installationId: string;
  objectName: string;
}

const shown = 10;

/** The latest runs of an object, by its schedule and on demand; the list of operations has the rest. */
export function Runs(given: Given): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Latest runs</summary>
      {isOpen && <Latest {...given} />}
    </details>
  );
}

function Latest({ project, installationId, objectName }: Given): ReactNode {
  const filters = { actionType: 'read' as const, installationId, object: objectName };
  const { data, error, refetch } = useQuery({
    queryKey: [project, 'operations', 'list', 'runs', filters],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations', {
          params: { path: { projectIdOrName: project }, query: { ...filters, pageSize: shown } },
        }),
      ),
  });
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  return (
    <>
      <ul className="stack stack-tight" aria-label={`Latest runs of ${objectName}`}>
        {data.results.map((run) => (
          <OneRun key={run.id} project={project} run={run} />
        ))}
      </ul>
      {data.results.length === 0 && data.pagination.done && <p className="muted">It was never read.</p>}
      <Link to="/projects/$project/operations" params={{ project }} search={filters}>
        All runs
      </Link>
    </>
  );
}

function OneRun({ project, run }: { project: string; run: Operation }): ReactNode {
  const { word, tone } = stateOf(run);
  return (
    <li className="row">
      <Badge tone={tone}>{word}</Badge>
      <Link to="/projects/$project/operations/$operationId" params={{ project, operationId: run.id }}>
        <Time at={run.createTime} />
      </Link>
      <span className="muted">{run.errors[0]?.message ?? run.result?.replace(/^\[[^\]]*\] /, '')}</span>
    </li>
  );
}

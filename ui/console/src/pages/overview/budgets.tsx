import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Connection } from '@svc/client';
import { onlyPage, type ConnectionPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { Section } from '../../ui/page.tsx';
import { budgetAgainMs } from '../connections/queries.ts';

const lookedAt = 200;
const mostShown = 12;

interface Gauge {
  connection: Connection;
  left: number;
  limit: number;
}

/** Of a connection whose provider said both; none is left where it says so. */
function gaugeOf(connection: Connection): Gauge[] {
  const { limit, remaining, closedUntil } = connection.rateBudget ?? {};
  if (limit === undefined || limit <= 0 || remaining === undefined) return [];
  return [{ connection, limit, left: closedUntil === undefined ? Math.min(remaining, limit) : 0 }];
}

/** How many calls the providers said last that they take, the scarcest first. Nothing where none said so. */
export function Budgets({ project }: { project: string }): ReactNode {
  const { data } = useQuery({
    queryKey: [project, 'connections', 'list', 'budgets'],
    queryFn: async () =>
      onlyPage<ConnectionPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/connections', {
            params: { path: { projectIdOrName: project }, query: { pageSize: lookedAt } },
          }),
        ),
      ),
    // A budget is no change of a connection.
    refetchInterval: budgetAgainMs,
  });
  const gauges = (data?.results ?? [])
    .flatMap(gaugeOf)
    .toSorted((one, other) => one.left / one.limit - other.left / other.limit);
  if (gauges.length === 0) return null;
  const isPart = data?.pagination.done === false;
  return (
    <Section
      title="Rate budgets"
      beside={isPart && <span className="muted">Of the newest {lookedAt} connections</span>}
    >
      <ul className="card gauges" aria-label="Rate budgets">
        {gauges.slice(0, mostShown).map((gauge) => (
          <Budget key={gauge.connection.id} project={project} {...gauge} />
        ))}
      </ul>
    </Section>
  );
}

function Budget({ project, connection, left, limit }: Gauge & { project: string }): ReactNode {
  const { id, provider, group } = connection;
  return (
    <li className="gauge">
      <Link to="/projects/$project/connections/$connectionId" params={{ project, connectionId: id }}>
        {provider}
      </Link>
      <span className="muted gauge-group">{group.groupName}</span>
      <meter
        min={0}
        max={limit}
        low={limit * 0.2}
        high={limit * 0.5}
        optimum={limit}
        value={left}
        aria-label={`Calls left at ${provider} for ${group.groupName}`}
      />
      <span className="end">
        {left.toLocaleString()} of {limit.toLocaleString()} left
      </span>
    </li>
  );
}

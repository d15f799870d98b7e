import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Installation } from '@svc/client';
import type { ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { health, integrationsQuery, troubleOf } from './queries.ts';

export const installationColumns: readonly Column<Installation>[] = [
  {
    title: 'Health',
    width: '8.5rem',
    cell: ({ healthStatus }) => {
      const [word, tone] = health[healthStatus];
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'Customer', width: '45%', cell: (installation) => <Customer installation={installation} /> },
  { title: 'Integration', width: '25%', cell: ({ integrationId }) => <IntegrationName id={integrationId} /> },
  { title: 'Provider', width: '9rem', cell: ({ config }) => config.content.provider },
  {
    title: 'Last operation',
    width: '9rem',
    cell: ({ lastOperationStatus }) => lastOperation(lastOperationStatus),
  },
  { title: 'Installed', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

function Customer({ installation }: { installation: Installation }): ReactNode {
  const project = useProject();
  return (
    <Link
      to="/projects/$project/installations/$installationId"
      params={{ project, installationId: installation.id }}
      className="row-link"
    >
      <span className="strong">{installation.group.groupName}</span>
      <span className="muted"> {troubleOf(installation)}</span>
    </Link>
  );
}

/** The name of an integration. */
export function IntegrationName({ id }: { id: string }): ReactNode {
  const { data } = useQuery(integrationsQuery(useProject()));
  return data?.find((one) => one.id === id)?.name ?? '';
}

function lastOperation(status: Installation['lastOperationStatus']): ReactNode {
  if (status === undefined) return <span className="muted">None yet</span>;
  if (status === 'failure') return <Badge tone="bad">Failed</Badge>;
  return (
    <Badge tone={status === 'success' ? 'good' : 'info'}>
      {status === 'success' ? 'Done' : 'In progress'}
    </Badge>
  );
}

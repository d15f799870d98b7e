import { Link } from '@tanstack/react-router';
import type { Connection, Installation } from '@svc/client';
import type { ReactNode } from 'react';
import { Table, type Column } from '../../ui/table.tsx';
import { IntegrationName } from '../installations/columns.tsx';
import { useProject } from '../../data/project.ts';
import { NothingInstalled, useInstallationsOf } from './installations.tsx';

type List = 'operations' | 'deliveries' | 'proxy-logs';

/** The list of what was done for an installation: the API tells all of it by installation. */
function To(props: { list: List; installationId: string; status?: string; children: string }): ReactNode {
  const { list, installationId, status, children } = props;
  return (
    <Link
      to={`/projects/$project/${list}`}
      params={{ project: useProject() }}
      search={{ installationId, ...(status === undefined ? {} : { status }) }}
    >
      {children}
    </Link>
  );
}

const columns: readonly Column<Installation>[] = [
  { title: 'Integration', width: '40%', cell: ({ integrationId }) => <IntegrationName id={integrationId} /> },
  {
    title: 'Operations',
    width: '11rem',
    cell: ({ id }) => (
      <To list="operations" installationId={id}>
        Operations
      </To>
    ),
  },
  {
    title: 'What failed',
    width: '11rem',
    cell: ({ id }) => (
      <To list="operations" installationId={id} status="failure">
        Failed operations
      </To>
    ),
  },
  {
    title: 'Proxy',
    width: '11rem',
    cell: ({ id }) => (
      <To list="proxy-logs" installationId={id}>
        Proxied calls
      </To>
    ),
  },
  {
    title: 'Deliveries',
    width: '11rem',
    cell: ({ id }) => (
      <To list="deliveries" installationId={id}>
        Deliveries
      </To>
    ),
  },
];

/** What was done by a connection, by each installation that works with it. */
export function ConnectionWork(props: { project: string; connection: Connection }): ReactNode {
  return (
    <Table
      label="Logs"
      list={useInstallationsOf(props)}
      columns={columns}
      rowKey={({ id }) => id}
      empty={<NothingInstalled {...props} />}
    />
  );
}

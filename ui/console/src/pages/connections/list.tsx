import { Link } from '@tanstack/react-router';
import { onlyPage, type Connection, type ConnectionPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { connectionStates, stateOf } from './queries.ts';

const columns: readonly Column<Connection>[] = [
  {
    title: 'Status',
    width: '10rem',
    cell: (connection) => {
      const [word, tone] = stateOf(connection);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'Customer', width: '40%', cell: (connection) => <Customer connection={connection} /> },
  { title: 'Provider', width: '9rem', cell: ({ provider }) => provider },
  { title: 'Connected by', width: '30%', cell: ({ consumer }) => consumer.consumerName },
  { title: 'Connected', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

function Customer({ connection }: { connection: Connection }): ReactNode {
  const project = useProject();
  const { id, group, statusDetail, providerWorkspaceRef } = connection;
  return (
    <Link
      to="/projects/$project/connections/$connectionId"
      params={{ project, connectionId: id }}
      className="row-link"
    >
      <span className="strong">{group.groupName}</span>
      <span className="muted"> {statusDetail ?? providerWorkspaceRef}</span>
    </Link>
  );
}

/** The accounts that customers connected, the newest first. */
export function ConnectionsPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters() as { filters: Filters };
  const list = useList([project, 'connections', 'list', filters], async (page) =>
    onlyPage<ConnectionPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/connections', {
          params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
        }),
      ),
    ),
  );
  return (
    <Page title="Connections" about="The accounts that customers connected, the newest first.">
      <FilterBar names={['status', 'provider', 'groupRef', 'consumerRef']}>
        <FilterSelect name="status" label="Status" options={statuses} />
        <FilterText name="provider" label="Provider" />
        <FilterText name="groupRef" label="Group" />
        <FilterText name="consumerRef" label="Consumer" />
      </FilterBar>
      <Table
        label="Connections"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<NoConnections project={project} isFiltered={Object.keys(filters).length > 0} />}
      />
    </Page>
  );
}

const statuses = Object.fromEntries(
  Object.entries(connectionStates).map(([status, [word]]) => [status, word]),
);

function NoConnections({ project, isFiltered }: { project: string; isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="Nothing matches">Take a filter away.</Empty>;
  return (
    <Empty
      title="No account is connected yet"
      command={`curl ${location.origin}/v1/projects/${project}/connect-links \\
  -H 'X-Api-Key: YOUR_KEY' -H 'Content-Type: application/json' \\
  -d '{"integration": "INTEGRATION", "groupRef": "GROUP", "consumerRef": "PERSON"}'`}
    >
      Make a link, and open it as the customer would: it leads through the consent of the provider.
    </Empty>
  );
}

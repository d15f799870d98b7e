import { Link } from '@tanstack/react-router';
import type { Event } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { eventColumns } from './columns.tsx';
import { eventWords } from './words.ts';

const types = Object.fromEntries(Object.entries(eventWords).map(([type, [words]]) => [type, words]));
const [what, name, when] = eventColumns;
const columns: readonly Column<Event>[] = [
  what,
  name,
  { title: 'Of', width: '18rem', cell: (event) => <Of event={event} /> },
  when,
];

/** What it happened to. */
function Of({ event: { connectionId, installationId } }: { event: Event }): ReactNode {
  const project = useProject();
  if (installationId !== undefined)
    return (
      <Link to="/projects/$project/installations/$installationId" params={{ project, installationId }}>
        Installation …{installationId.slice(-10)}
      </Link>
    );
  if (connectionId === undefined) return null;
  return (
    <Link to="/projects/$project/connections/$connectionId" params={{ project, connectionId }}>
      Connection …{connectionId.slice(-10)}
    </Link>
  );
}

/** What happened in the project, whether it was told or not, the latest first. */
export function EventsPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters();
  const list = useList([project, 'events', 'list', filters], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/events', {
        params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
      }),
    ),
  );
  return (
    <Page
      title="Events"
      about="What happened to connections, installations and destinations, the latest first."
    >
      <FilterBar names={['type', 'connectionId']}>
        <FilterSelect name="type" label="What" options={types} />
        <FilterText name="connectionId" label="Connection" />
      </FilterBar>
      <Table
        label="Events"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          Object.keys(filters).length > 0 ? (
            <Empty title="Nothing matches">Take a filter away. Events are kept for some days.</Empty>
          ) : (
            <Empty title="Nothing happened lately">Events are kept for some days.</Empty>
          )
        }
      />
    </Page>
  );
}

import { Link } from '@tanstack/react-router';
import { onlyPage, type Destination, type DestinationPage } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { CreateDestination } from '../../forms/destination-create.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { destinationStates, kindNames, lookEveryMs, stateOf, type DestinationState } from './queries.ts';

const columns: readonly Column<Destination>[] = [
  {
    title: 'Status',
    width: '8rem',
    cell: (destination) => {
      const [word, tone] = stateOf(destination);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'Name', width: '60%', cell: (destination) => <Name destination={destination} /> },
  { title: 'Kind', width: '10rem', cell: ({ type }) => kindNames[type] },
  { title: 'Last change', width: '12.5rem', cell: ({ updateTime }) => <Time at={updateTime} /> },
];

function Name({ destination }: { destination: Destination }): ReactNode {
  const project = useProject();
  const { id, name, reason, metadata } = destination;
  return (
    <Link
      to="/projects/$project/destinations/$destination"
      params={{ project, destination: id }}
      className="row-link"
    >
      <span className="strong">{name}</span>
      <span className="muted"> {reason ?? whereOf(metadata)}</span>
    </Link>
  );
}

/** The address, bucket or file of any kind. */
const whereOf = ({ url, bucket, name }: { url?: string; bucket?: string; name?: string }): string =>
  url ?? bucket ?? name ?? '';

/** Where records and events are sent. */
export function DestinationsPage(): ReactNode {
  const project = useProject();
  const [isMaking, setMaking] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  const make = (
    <Button look="primary" disabledFor={notAllowed} onClick={() => setMaking(true)}>
      New destination
    </Button>
  );
  const { filters } = useFilters<{ state: DestinationState }>();
  const list = useList(
    [project, 'destinations', 'list', filters],
    async (page) =>
      onlyPage<DestinationPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/destinations', {
            params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
          }),
        ),
      ),
    { againMs: lookEveryMs },
  );
  return (
    <Page title="Destinations" about="Where records and events are sent." actions={make}>
      <FilterBar names={['state']}>
        <FilterSelect name="state" label="Status" options={destinationStates} />
      </FilterBar>
      <Table
        label="Destinations"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          filters.state ? <Empty title="Nothing matches">Take the filter away.</Empty> : <NoDestination />
        }
      />
      {isMaking && <CreateDestination project={project} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NoDestination(): ReactNode {
  return (
    <Empty
      title="There is no destination yet"
      command="svc destinations create inbox --address https://example.com/hooks/svc"
    >
      An object that is read needs one. A webhook is your own address; there are buckets, tables, brokers and
      more.
    </Empty>
  );
}

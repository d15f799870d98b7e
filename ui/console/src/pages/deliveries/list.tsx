import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { ReplayDeliveries } from '../../forms/deliveries-replay.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { useDestinationNames } from '../destinations/queries.ts';
import { deliveryColumns } from './columns.tsx';
import { deliveryStates } from './queries.ts';

const filterNames = ['status', 'destination', 'object', 'groupRef', 'installationId', 'operationId'] as const;

/** What was sent to the destinations of the project, the newest first. */
export function DeliveriesPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters() as { filters: Filters };
  const [isReplaying, setReplaying] = useState(false);
  const notAllowed = useNotAllowed(project, 'remediate');
  const list = useList([project, 'deliveries', 'list', filters], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/deliveries', {
        params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
      }),
    ),
  );
  return (
    <Page
      title="Deliveries"
      about="Every message to your destinations, the newest first. What failed for good is not tried again by itself."
      actions={
        <>
          <Link to="/projects/$project/replays" params={{ project }} className="button button-quiet">
            Replays
          </Link>
          <Button disabledFor={notAllowed ?? whyNoReplay(filters)} onClick={() => setReplaying(true)}>
            Send all of these again …
          </Button>
        </>
      }
    >
      <FilterBar names={filterNames}>
        <FilterSelect name="status" label="Status" options={statuses} />
        <FilterSelect name="destination" label="To" options={useDestinationNames(project)} />
        <FilterText name="object" label="Object" />
        <FilterText name="groupRef" label="Group" />
        <FilterText name="operationId" label="Operation" />
        <FilterText name="installationId" label="Installation" />
      </FilterBar>
      {filters['status'] === 'pending' && <Waiting project={project} destination={filters['destination']} />}
      <Table
        label="Deliveries"
        list={list}
        columns={deliveryColumns}
        rowKey={({ id }) => id}
        empty={<NoDeliveries isFiltered={Object.keys(filters).length > 0} />}
      />
      {isReplaying && (
        <ReplayDeliveries project={project} filters={filters} onClose={() => setReplaying(false)} />
      )}
    </Page>
  );
}

const statuses = Object.fromEntries(Object.entries(deliveryStates).map(([status, [word]]) => [status, word]));

function whyNoReplay(filters: Filters): string | undefined {
  if (filters['operationId']) return 'A replay is not chosen by operation: take that filter away';
  return filters['status'] === 'pending' ? 'What waits is sent by its destination' : undefined;
}

/** From a list of what waits to where it can be sent at once. */
function Waiting({ project, destination }: { project: string; destination: string | undefined }): ReactNode {
  return (
    <Notice tone="info" title="What waits is tried by itself, unless its destination is disabled.">
      Once a receiver is mended,{' '}
      {destination ? (
        <Link to="/projects/$project/destinations/$destination" params={{ project, destination }}>
          its destination
        </Link>
      ) : (
        <Link to="/projects/$project/destinations" params={{ project }} search={{ state: 'failing' }}>
          the destination that fails
        </Link>
      )}{' '}
      sends all that waits now.
    </Notice>
  );
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="Nothing matches">Take a filter away.</Empty>;
  return (
    <Empty title="Nothing was delivered yet" command="svc listen">
      Records that are read and events of notifications are delivered to destinations. This prints on your
      machine what would be.
    </Empty>
  );
}

import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { readColumns } from './columns.tsx';
import { readStates } from './queries.ts';

/** How every object of every customer is read. */
export function ReadsPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters() as { filters: Filters };
  const list = useList(
    [project, 'reads', 'list', filters],
    (page) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/reads', {
          params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
        }),
      ),
    // Runs are operations: their progress is no change of a read.
    { againMs: 5000 },
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Reads"
      about="How each object of each customer is read: its schedule, how far it is, and its last run."
    >
      <FilterBar names={['status', 'groupRef', 'object', 'installationId']}>
        <FilterSelect name="status" label="Status" options={statuses} />
        <FilterText name="groupRef" label="Group" />
        <FilterText name="object" label="Object" />
        <FilterText name="installationId" label="Installation" />
      </FilterBar>
      <Table
        label="Reads"
        list={list}
        columns={readColumns}
        rowKey={({ installationId, objectName }) => `${installationId} ${objectName}`}
        empty={<NoReads isFiltered={isFiltered} />}
      />
    </Page>
  );
}

const statuses = Object.fromEntries(Object.entries(readStates).map(([status, [word]]) => [status, word]));

function NoReads({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered)
    return <Empty title="Nothing matches">Take a filter away. An object goes by the provider's name.</Empty>;
  return (
    <Empty
      title="Nothing is read yet"
      command="svc installations create INTEGRATION --group GROUP --config CONFIG.json"
    >
      A customer's config names the objects that are read, under <code>read.objects</code>; those that the
      integration declares with <code>enabled: always</code> are read for all.
    </Empty>
  );
}

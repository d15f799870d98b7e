import { Link } from '@tanstack/react-router';
import type { Operation } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterDay, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ManyOperations } from './many.tsx';
import { categories, stateOf } from './queries.ts';

const columns: readonly Column<Operation>[] = [
  {
    title: 'Status',
    width: '14rem',
    cell: (operation) => {
      const { word, tone } = stateOf(operation);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'What', width: 'auto', cell: (operation) => <What operation={operation} /> },
  { title: 'Records', width: '7rem', align: 'end', cell: ({ counts }) => counts?.total },
  {
    title: 'Attempts',
    width: '7rem',
    align: 'end',
    cell: ({ metadata }) => metadata.retry.attempts,
  },
  { title: 'Accepted', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

function What({ operation }: { operation: Operation }): ReactNode {
  const project = useProject();
  const { id, actionType, resource, result, errors, groupRef } = operation;
  const told = errors[0]?.message ?? result?.replace(/^\[[^\]]*\] /, '') ?? '';
  return (
    <Link
      to="/projects/$project/operations/$operationId"
      params={{ project, operationId: id }}
      className="row-link"
    >
      <span className="strong">
        {actionType === 'read' ? 'Read' : 'Write'} {resource}
      </span>
      {groupRef !== undefined && <span> · {groupRef}</span>}
      <span className="muted"> {told}</span>
    </Link>
  );
}

/** Every piece of work of the project, the newest first. */
export function OperationsPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters();
  const list = useList([project, 'operations', 'list', filters], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/operations', {
        params: { path: { projectIdOrName: project }, query: { ...queryOf(filters as Filters), ...page } },
      }),
    ),
  );
  return (
    <Page
      title="Operations"
      about="Every write and read, the newest first."
      // What is unresolved is looked at one by one.
      actions={
        !filters['unresolved'] && (
          <ManyOperations key={JSON.stringify(filters)} project={project} filters={filters as Filters} />
        )
      }
    >
      <FilterBar names={filterNames}>
        <FilterSelect name="status" label="Status" options={statuses} />
        <FilterSelect name="actionType" label="Kind" options={{ write: 'Write', read: 'Read' }} />
        <FilterSelect name="errorCategory" label="Failed of" options={categories} />
        <FilterSelect name="partlyDone" label="Records" options={{ true: 'Partly done' }} />
        <FilterSelect name="unresolved" label="Outcome" options={{ true: 'To be resolved' }} />
        <FilterText name="object" label="Object" />
        <FilterText name="groupRef" label="Group" />
        <FilterText name="installationId" label="Installation" />
        <FilterDay name="from" label="From" />
        <FilterDay name="to" label="To" isEnd />
      </FilterBar>
      <Table
        label="Operations"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<NoOperations project={project} isFiltered={Object.keys(filters).length > 0} />}
      />
    </Page>
  );
}

/** As the address has it: what is no value of a filter, the server says. */
const queryOf = ({ partlyDone, unresolved, ...filters }: Filters) => ({
  ...filters,
  ...(partlyDone === undefined ? {} : { partlyDone: partlyDone as unknown as boolean }),
  ...(unresolved === undefined ? {} : { unresolved: unresolved as unknown as boolean }),
});

const statuses = { in_progress: 'In progress', success: 'Done', failure: 'Failed' };
const filterNames = [
  'status',
  'actionType',
  'errorCategory',
  'partlyDone',
  'unresolved',
  'object',
  'groupRef',
  'installationId',
  'from',
  'to',
];

function NoOperations({ project, isFiltered }: { project: string; isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="Nothing matches">Take a filter away, or choose a longer time.</Empty>;
  return (
    <Empty
      title="Nothing was written or read yet"
      command={`curl ${location.origin}/write/v1/projects/${project}/integrations/INTEGRATION/objects/OBJECT \\
  -H 'X-Api-Key: YOUR_KEY' -H 'Content-Type: application/json' \\
  -d '{"groupRef": "GROUP", "type": "create", "record": {"email": "ada@example.com"}}'`}
    >
      Each write of your application becomes an operation here, with what the provider answered.
    </Empty>
  );
}

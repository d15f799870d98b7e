import type { AuditEntry } from '@svc/client';
import { Download } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { stringifySearch, useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterDay, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { actions, wordsOf } from './actions.ts';
import { AuditDetail } from './detail.tsx';
import { nameOf, whoOf } from './words.ts';

const names = ['action', 'personId', 'keyId', 'targetId', 'groupRef', 'from', 'to'];

const columnsOf = (show: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] => [
  {
    title: 'What',
    width: '40%',
    cell: (entry) => (
      <button type="button" className="row-link row-button" onClick={() => show(entry)}>
        <span className="strong">{wordsOf(entry.action)}</span>
        <span className="muted"> {nameOf(entry)}</span>
      </button>
    ),
  },
  { title: 'When', width: '12.5rem', cell: ({ time }) => <Time at={time} /> },
  { title: 'Who', width: '32%', cell: ({ actor }) => whoOf(actor) },
  { title: 'From', width: '16%', cell: ({ address }) => address },
];

/** The log as a file: all of it, or of the days that are chosen. */
function Exports({ project, filters }: { project: string; filters: Partial<Filters> }): ReactNode {
  const path = `/v1/projects/${encodeURIComponent(project)}/audit-log:export`;
  const { from, to } = filters;
  const notAllowed = useNotAllowed(project, 'develop');
  if (notAllowed !== undefined)
    return Object.entries(formats).map(([format, name]) => (
      <Button key={format} disabledFor={notAllowed} icon={<Download size={16} aria-hidden />}>
        {name}
      </Button>
    ));
  return Object.entries(formats).map(([format, name]) => (
    <a
      key={format}
      className="button button-plain"
      href={path + stringifySearch({ format, from, to })}
      download={`audit-log.${format}`}
    >
      <Download size={16} aria-hidden /> {name}
    </a>
  ));
}

const formats = { csv: 'Export as CSV', ndjson: 'As JSON lines' };

/** Every change by anybody, the newest first. */
export function AuditPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters();
  const [shown, setShown] = useState<AuditEntry>();
  const columns = useMemo(() => columnsOf(setShown), []);
  const list = useList([project, 'audit-log', 'list', filters], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/audit-log', {
        params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
      }),
    ),
  );
  return (
    <Page
      title="Audit log"
      about="What was changed, by whom, from where, and each time that a secret was shown. Nobody can change it."
      actions={<Exports project={project} filters={filters} />}
    >
      <FilterBar names={names}>
        <FilterSelect name="action" label="What" options={actions} />
        <FilterText name="personId" label="Person id" />
        <FilterText name="keyId" label="Key id" />
        <FilterText name="targetId" label="Changed id" />
        <FilterText name="groupRef" label="Group" />
        <FilterDay name="from" label="From" />
        <FilterDay name="to" label="To" isEnd />
      </FilterBar>
      <Table
        label="Audit log"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title="Nothing matches">
            Take a filter away, or choose a longer time. Entries are kept as long as the page of storage says.
          </Empty>
        }
      />
      {shown && <AuditDetail entry={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

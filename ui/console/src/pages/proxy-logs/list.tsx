import type { ProxyLogEntry } from '@svc/client';
import { useMemo, useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterDay, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Facts, Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';

const names = ['method', 'status', 'path', 'groupRef', 'installationId', 'since', 'until'];
const methods = { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' };
const statuses = { '2xx': 'Done (2xx)', '4xx': 'Refused (4xx)', '5xx': 'Failed (5xx)' };

function toneOf({ status }: ProxyLogEntry): Tone {
  if (status === undefined || status >= 500) return 'bad';
  return status >= 400 ? 'warning' : 'good';
}

const columnsOf = (show: (entry: ProxyLogEntry) => void): readonly Column<ProxyLogEntry>[] => [
  {
    title: 'Answer',
    width: '7.5rem',
    cell: (entry) => <Badge tone={toneOf(entry)}>{entry.status ?? 'None'}</Badge>,
  },
  {
    title: 'Call',
    width: '44%',
    cell: (entry) => (
      <button type="button" className="row-link row-button" onClick={() => show(entry)}>
        <code>
          {entry.method} {entry.path}
        </code>
      </button>
    ),
  },
  { title: 'Group', width: '20%', cell: ({ groupRef }) => groupRef },
  { title: 'Provider', width: '8rem', cell: ({ provider }) => provider },
  { title: 'Took', width: '6rem', align: 'end', cell: ({ totalMs }) => duration(totalMs) },
  { title: 'When', width: '12.5rem', cell: ({ time }) => <Time at={time} /> },
];

/** The calls that went to providers through the proxy. */
export function ProxyLogPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters();
  const [shown, setShown] = useState<ProxyLogEntry>();
  const columns = useMemo(() => columnsOf(setShown), []);
  const list = useList([project, 'proxy-logs', 'list', filters], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/proxy-logs', {
        params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
      }),
    ),
  );
  const isFiltered = names.some((name) => filters[name]);
  return (
    <Page title="Proxy log" about="Each call through the proxy: its path, its answer and how long it took.">
      <FilterBar names={names}>
        <FilterSelect name="method" label="Method" options={methods} />
        <FilterSelect name="status" label="Answer" options={statuses} />
        <FilterText name="path" label="Path contains" />
        <FilterText name="groupRef" label="Group" />
        <FilterText name="installationId" label="Installation id" />
        <FilterDay name="since" label="From" />
        <FilterDay name="until" label="To" isEnd />
      </FilterBar>
      <Table
        label="Calls through the proxy"
        list={list}
        columns={columns}
        rowKey={({ requestId }) => requestId}
        empty={<NoCalls isFiltered={isFiltered} />}
      />
      {shown && <Call entry={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

function NoCalls({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="Nothing matches">Take a filter away, or choose a longer time.</Empty>;
  return (
    <Empty
      title="No calls through the proxy"
      command="svc proxy '/crm/v3/objects/contacts?limit=1' --integration INTEGRATION --group GROUP"
    >
      An integration with proxy in its manifest lets your servers call its provider with the credentials of a
      customer.
    </Empty>
  );
}

function Call({ entry, onClose }: { entry: ProxyLogEntry; onClose: () => void }): ReactNode {
  const { method, path, status, problem, time, provider, groupRef, providerMs, totalMs } = entry;
  return (
    <Dialog title={`${method} ${path}`} isOpen isWide onClose={onClose}>
      <Facts
        of={[
          ['When', <Time key="at" at={time} look="full" />],
          ['Answer', status ?? 'The caller got no complete answer'],
          ['Refused by svc', problem && <code key="problem">{problem}</code>],
          ['Until the provider answered', providerMs === undefined ? undefined : duration(providerMs)],
          ['In all', duration(totalMs)],
          ['Provider', provider],
          ['Group', groupRef],
          ['Installation', <Id key="installation" value={entry.installationId} />],
          ['Connection', <Id key="connection" value={entry.connectionId} />],
          ['Request', <Id key="request" value={entry.requestId} />],
        ]}
      />
      <p className="muted">Values of the query, headers and bodies are not kept.</p>
    </Dialog>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ProviderInfo } from '@svc/client';
import type { ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useProject } from '../../data/project.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ProviderApps } from './apps.tsx';
import { authTypes, catalogueQuery, supportOf } from './queries.ts';

const columns: readonly Column<ProviderInfo>[] = [
  { title: 'Provider', width: '36%', cell: (info) => <Name info={info} /> },
  { title: 'Signs in by', width: '10rem', cell: ({ authType }) => authTypes[authType] },
  { title: 'What svc can do there', width: '64%', cell: (info) => supportOf(info).join(' · ') },
];

function Name({ info: { name, displayName } }: { info: ProviderInfo }): ReactNode {
  const project = useProject();
  return (
    <Link
      to="/projects/$project/providers/$provider"
      params={{ project, provider: name }}
      className="row-link"
    >
      <span className="strong">{displayName}</span>
      <span className="muted"> {name}</span>
    </Link>
  );
}

/** The providers that svc knows, and the OAuth clients that the project has there. */
export function ProvidersPage(): ReactNode {
  const project = useProject();
  const { filters, setFilters } = useFilters();
  return (
    <Page title="Providers" about="Whose accounts your customers can connect, and your OAuth clients there.">
      <Tabs
        label="Parts of the providers"
        chosen={filters['tab'] ?? 'catalogue'}
        onChoose={(tab) => setFilters({ tab: tab === 'catalogue' ? '' : tab })}
        tabs={[
          { id: 'catalogue', title: 'Catalogue', content: <Catalogue /> },
          { id: 'apps', title: 'Provider apps', content: <ProviderApps project={project} /> },
        ]}
      />
    </Page>
  );
}

function Catalogue(): ReactNode {
  const { filters } = useFilters();
  const { data = [], isLoading, error, refetch } = useQuery(catalogueQuery);
  const sought = (filters['q'] ?? '').toLowerCase();
  const items = data.filter(
    (info) =>
      `${info.name} ${info.displayName}`.toLowerCase().includes(sought) &&
      [undefined, info.authType].includes(filters['authType'] as ProviderInfo['authType'] | undefined) &&
      (!filters['can'] || supportOf(info).includes(filters['can'])),
  );
  const list = { items, isLoading, error, isOld: false, hasMore: false, isLoadingMore: false };
  return (
    <>
      <FilterBar names={['q', 'authType', 'can']}>
        <FilterText name="q" label="Name" />
        <FilterSelect name="authType" label="Signs in by" options={authTypes} />
        <FilterSelect name="can" label="Can" options={abilities} />
      </FilterBar>
      <Table
        label="Catalogue"
        list={{ ...list, loadMore: () => undefined, reload: () => void refetch() }}
        columns={columns}
        rowKey={({ name }) => name}
        empty={
          <Empty title="No such provider" command="npm run new:provider -- NAME">
            A provider that svc does not know is described in a file of its own.
          </Empty>
        }
      />
    </>
  );
}

const abilities = {
  read: 'Read',
  write: 'Write',
  upsert: 'Upsert',
  search: 'Search',
  subscribe: 'Subscribe',
  proxy: 'Proxy',
};

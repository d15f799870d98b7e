import { onlyPage, type InstallationPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters, type Filters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { installationColumns } from './columns.tsx';

/** Which customer has which integration, the newest first. */
export function InstallationsPage(): ReactNode {
  const project = useProject();
  const { filters } = useFilters() as { filters: Filters };
  const list = useList([project, 'installations', 'list', filters], async (page) =>
    onlyPage<InstallationPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/installations', {
          params: { path: { projectIdOrName: project }, query: { ...filters, ...page } },
        }),
      ),
    ),
  );
  return (
    <Page title="Installations" about="Which customer has which integration, the newest first.">
      <FilterBar names={['healthStatus', 'groupRef']}>
        <FilterSelect
          name="healthStatus"
          label="Health"
          options={{ healthy: 'Healthy', unhealthy: 'Unhealthy' }}
        />
        <FilterText name="groupRef" label="Group" />
      </FilterBar>
      <Table
        label="Installations"
        list={list}
        columns={installationColumns}
        rowKey={({ id }) => id}
        empty={<NoInstallations isFiltered={Object.keys(filters).length > 0} />}
      />
    </Page>
  );
}

function NoInstallations({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="Nothing matches">Take a filter away.</Empty>;
  return (
    <Empty
      title="No customer has installed anything yet"
      command="svc installations create INTEGRATION --group GROUP"
    >
      A customer installs by a connect link or in your application. Of a group that is connected already, you
      can.
    </Empty>
  );
}

import { Link } from '@tanstack/react-router';
import { onlyPage, type Connection, type Installation, type InstallationPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList, type List } from '../../data/list.ts';
import { Empty } from '../../ui/empty.tsx';
import { Table } from '../../ui/table.tsx';
import { installationColumns } from '../installations/columns.tsx';

interface Given {
  project: string;
  connection: Connection;
}

/** What works by a connection: installations of its group. */
export function useInstallationsOf({ project, connection }: Given): List<Installation> {
  const { groupRef } = connection.group;
  const list = useList([project, 'installations', 'list', { groupRef }], async (page) =>
    onlyPage<InstallationPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/installations', {
          params: { path: { projectIdOrName: project }, query: { groupRef, ...page } },
        }),
      ),
    ),
  );
  return { ...list, items: list.items.filter((one) => one.connection?.id === connection.id) };
}

export function ConnectionInstallations(props: Given): ReactNode {
  return (
    <Table
      label="Installations"
      list={useInstallationsOf(props)}
      columns={installationColumns}
      rowKey={({ id }) => id}
      empty={<NothingInstalled {...props} />}
    />
  );
}

export function NothingInstalled({ project, connection }: Given): ReactNode {
  const { groupRef, groupName } = connection.group;
  return (
    <Empty title="Nothing is installed with it">
      {groupName} has this account, and no integration that works with it.{' '}
      <Link to="/projects/$project/installations" params={{ project }} search={{ groupRef }}>
        Installations of the group
      </Link>
    </Empty>
  );
}

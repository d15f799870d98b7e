import { Link } from '@tanstack/react-router';
import { onlyPage, type Connection, type InstallationPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { Empty } from '../../ui/empty.tsx';
import { Table } from '../../ui/table.tsx';
import { installationColumns } from '../installations/columns.tsx';

/** What works by a connection: installations of its group. */
export function ConnectionInstallations(props: { project: string; connection: Connection }): ReactNode {
  const { project, connection } = props;
  const { groupRef, groupName } = connection.group;
  const list = useList([project, 'installations', 'list', { groupRef }], async (page) =>
    onlyPage<InstallationPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/installations', {
          params: { path: { projectIdOrName: project }, query: { groupRef, ...page } },
        }),
      ),
    ),
  );
  const items = list.items.filter((one) => one.connection?.id === connection.id);
  return (
    <Table
      label="Installations"
      list={{ ...list, items }}
      columns={installationColumns}
      rowKey={({ id }) => id}
      empty={
        <Empty title="Nothing is installed with it">
          {groupName} has this account, and no integration that works with it.{' '}
          <Link to="/projects/$project/installations" params={{ project }} search={{ groupRef }}>
            Installations of the group
          </Link>
        </Empty>
      }
    />
  );
}

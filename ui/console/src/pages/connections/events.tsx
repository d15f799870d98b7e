import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { Empty } from '../../ui/empty.tsx';
import { Table } from '../../ui/table.tsx';
import { eventColumns } from '../events/columns.tsx';

/** What happened to a connection, the latest first. */
export function ConnectionEvents(props: { project: string; connectionId: string }): ReactNode {
  const { project, connectionId } = props;
  const list = useList([project, 'events', 'list', connectionId], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/events', {
        params: { path: { projectIdOrName: project }, query: { connectionId, ...page } },
      }),
    ),
  );
  return (
    <Table
      label="Events"
      list={list}
      columns={eventColumns}
      rowKey={({ id }) => id}
      empty={<Empty title="Nothing happened lately">Events are kept for some days.</Empty>}
    />
  );
}

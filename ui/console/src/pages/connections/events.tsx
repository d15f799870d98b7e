import type { Event } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { eventWords } from '../events/words.ts';

const columns: readonly Column<Event>[] = [
  {
    title: 'What happened',
    width: '45%',
    cell: ({ type }) => {
      const [words, tone] = eventWords[type];
      return <Badge tone={tone}>{words}</Badge>;
    },
  },
  { title: 'Event', width: '35%', cell: ({ type }) => <code>{type}</code> },
  { title: 'When', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

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
      columns={columns}
      rowKey={({ id }) => id}
      empty={<Empty title="Nothing happened lately">Events are kept for some days.</Empty>}
    />
  );
}

import { Link } from '@tanstack/react-router';
import type { Replay } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { DestinationName } from './columns.tsx';
import { replayStates } from './queries.ts';

const columns: readonly Column<Replay>[] = [
  {
    title: 'Status',
    width: '9rem',
    cell: ({ status }) => {
      const [word, tone] = replayStates[status];
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'To', width: '40%', cell: (replay) => <To replay={replay} /> },
  { title: 'Sent', width: '7rem', align: 'end', cell: ({ progress }) => progress.delivered },
  { title: 'Waiting', width: '7rem', align: 'end', cell: ({ progress }) => progress.pending },
  { title: 'Failed', width: '7rem', align: 'end', cell: ({ progress }) => progress.failed },
  { title: 'Started', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

function To({ replay }: { replay: Replay }): ReactNode {
  const project = useProject();
  return (
    <Link
      to="/projects/$project/replays/$replayId"
      params={{ project, replayId: replay.id }}
      className="row-link strong"
    >
      <DestinationName id={replay.destinationId} />
    </Link>
  );
}

/** What was asked to be sent again, the latest first. */
export function ReplaysPage(): ReactNode {
  const project = useProject();
  const list = useList([project, 'replays', 'list'], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/replays', {
        params: { path: { projectIdOrName: project }, query: page },
      }),
    ),
  );
  return (
    <Page title="Replays" about="Messages that were sent again by a filter, the latest first.">
      <Table
        label="Replays"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty
            title="Nothing was replayed"
            command="svc deliveries replay --destination NAME --status failed"
          >
            Choose deliveries by the filters of their page, and send all of them again.
          </Empty>
        }
      />
    </Page>
  );
}

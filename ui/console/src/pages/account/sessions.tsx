import { useMutation, useQueryClient } from '@tanstack/react-query';
import { onlyPage, type Session } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList, type Page } from '../../data/list.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const columns: readonly Column<Session>[] = [
  { title: 'Browser', width: 'auto', cell: ({ userAgent }) => <span title={userAgent}>{userAgent}</span> },
  { title: 'From', width: '10rem', cell: ({ address }) => address },
  { title: 'Last used', width: '8rem', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} look="ago" /> },
  { title: 'Signed in', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
  {
    title: '',
    width: '8rem',
    align: 'end',
    cell: (session) => (session.isCurrent ? <Badge tone="info">This one</Badge> : <End id={session.id} />),
  },
];

/** Where the person is signed in. */
export function Sessions(): ReactNode {
  const list = useList<Session>(['sessions', 'list'], async (query) =>
    onlyPage<Page<Session>>(await answer(api.GET('/v1/sessions', { params: { query } }))),
  );
  return <Table label="Sessions" list={list} columns={columns} rowKey={({ id }) => id} empty={null} />;
}

function End({ id }: { id: string }): ReactNode {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => answer(api.DELETE('/v1/sessions/{sessionId}', { params: { path: { sessionId: id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  });
  return (
    <Button isBusy={isPending} onClick={() => mutate()}>
      End it
    </Button>
  );
}

import { onlyPage, type Invitation, type InvitationPage } from '@svc/client';
import { useMemo, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { roles } from './roles.ts';

const columns: readonly Column<Invitation>[] = [
  { title: 'For', width: '50%', cell: ({ email }) => <span className="strong">{email}</span> },
  { title: 'Role', width: '8rem', cell: ({ role }) => roles[role][0] },
  { title: 'Invited by', width: '50%', cell: ({ invitedBy }) => invitedBy },
  { title: 'Holds until', width: '12.5rem', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

/** The invitations that wait. */
export function Invitations({ project }: { project: string }): ReactNode {
  const notAllowed = useNotAllowed(project, 'own');
  const list = useList([project, 'invitations', 'list'], async (query) =>
    onlyPage<InvitationPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/invitations', {
          params: { path: { projectIdOrName: project }, query },
        }),
      ),
    ),
  );
  const { mutate, error } = useAct({
    project,
    nouns: ['invitations'],
    said: 'Taken back: its link leads nowhere now',
    act: (invitationId: string) =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/invitations/{invitationId}', {
          params: { path: { projectIdOrName: project, invitationId } },
        }),
      ),
  });
  const all = useMemo(() => [...columns, takeBack(notAllowed, mutate)], [notAllowed, mutate]);
  return (
    <>
      {error && <Problem error={error} />}
      <Table
        label="Invitations"
        list={list}
        columns={all}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No invitations wait">
            An owner invites somebody by a link, which is sent to them in a way that you trust.
          </Empty>
        }
      />
    </>
  );
}

const takeBack = (notAllowed: string | undefined, act: (id: string) => void): Column<Invitation> => ({
  title: 'Actions',
  width: '8rem',
  align: 'end',
  cell: ({ id, email }) => (
    <Button
      look="quiet"
      disabledFor={notAllowed}
      aria-label={`Take back the invitation of ${email}`}
      onClick={() => act(id)}
    >
      Take back
    </Button>
  ),
});

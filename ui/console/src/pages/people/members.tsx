import { onlyPage, type Member, type MemberPage } from '@svc/client';
import { Ellipsis } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { ChangeRole } from '../../forms/member-role.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { roles } from './roles.ts';

interface Chosen {
  act: 'role' | 'remove';
  member: Member;
}

const columns: readonly Column<Member>[] = [
  {
    title: 'Person',
    width: '60%',
    cell: ({ name, email }) => (
      <>
        <span className="strong">{name ?? email}</span> {name && <span className="muted">{email}</span>}
      </>
    ),
  },
  { title: 'Role', width: '8rem', cell: ({ role }) => roles[role][0] },
  {
    title: 'Second factor',
    width: '9rem',
    cell: ({ secondFactor }) => (secondFactor ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>),
  },
  {
    title: 'Last seen',
    width: '10rem',
    cell: ({ lastSeenAt }) =>
      lastSeenAt ? <Time at={lastSeenAt} look="ago" /> : <span className="muted">Never</span>,
  },
];

/** Who works with the project, and what an owner can do about it. */
export function Members({ project }: { project: string }): ReactNode {
  const [chosen, setChosen] = useState<Chosen>();
  const notAllowed = useNotAllowed(project, 'own');
  const list = useList([project, 'members', 'list'], async (query) =>
    onlyPage<MemberPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/members', {
          params: { path: { projectIdOrName: project }, query },
        }),
      ),
    ),
  );
  const remove = useAct({
    project,
    nouns: ['members'],
    said: 'Removed',
    act: (personId: string) =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/members/{personId}', {
          params: { path: { projectIdOrName: project, personId } },
        }),
      ),
  });
  const all = useMemo(
    () => (notAllowed === undefined ? [...columns, actions(setChosen)] : columns),
    [notAllowed],
  );
  const close = (): void => setChosen(undefined);
  return (
    <>
      <Table
        label="Members"
        list={list}
        columns={all}
        rowKey={({ id }) => id}
        empty={<Empty title="Nobody yet" command="svc people invite --owner" />}
      />
      {chosen?.act === 'role' && <ChangeRole project={project} member={chosen.member} onClose={close} />}
      {chosen?.act === 'remove' && (
        <Confirm
          title={`Remove ${chosen.member.email}?`}
          verb="Remove"
          act={() => remove.mutateAsync(chosen.member.id)}
          onDone={close}
          onClose={close}
        >
          What they have open loses this project at once.
        </Confirm>
      )}
    </>
  );
}

const actions = (choose: (chosen: Chosen) => void): Column<Member> => ({
  title: 'Actions',
  width: '5rem',
  align: 'end',
  cell: (member) => (
    <Menu
      label={`Actions of ${member.email}`}
      look="button button-quiet button-icon"
      button={<Ellipsis size={16} aria-hidden />}
      entries={[
        { label: 'Change the role …', onSelect: () => choose({ act: 'role', member }) },
        { label: 'Remove …', isDangerous: true, onSelect: () => choose({ act: 'remove', member }) },
      ]}
    />
  ),
});

import { onlyPage, type JwtKey, type JwtKeyPage } from '@svc/client';
import { useMemo, useState, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { DeleteKey, keyActions } from './row-actions.tsx';
import { KeyState } from './state.tsx';

const columns: readonly Column<JwtKey>[] = [
  { title: 'Label', width: '26%', cell: ({ label }) => <span className="strong">{label}</span> },
  { title: 'State', width: '7rem', cell: (key) => <KeyState {...key} /> },
  { title: 'Id (kid)', width: '14rem', cell: ({ id }) => <Id value={id} isShort /> },
  { title: 'Issuer', width: '22%', cell: ({ issuer }) => issuer ?? <span className="muted">Any</span> },
  {
    title: 'Last used',
    width: '9rem',
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} look="ago" /> : <span className="muted">Never</span>,
  },
  {
    title: 'Holds until',
    width: '9rem',
    cell: ({ expiresAt }) =>
      expiresAt ? <Time at={expiresAt} look="ago" /> : <span className="muted">No end</span>,
  },
];

/** The public keys, and what can be done to one. */
export function JwtKeys({ project }: { project: string }): ReactNode {
  const path = { projectIdOrName: project };
  const notAllowed = useNotAllowed(project, 'develop');
  const [deleting, setDeleting] = useState<JwtKey>();
  const list = useList([project, 'jwt-keys', 'list'], async (query) =>
    onlyPage<JwtKeyPage>(
      await answer(api.GET('/v1/projects/{projectIdOrName}/jwt-keys', { params: { path, query } })),
    ),
  );
  const { turn, remove } = useActs(project);
  const { mutate: turnKey } = turn;
  const withActions = useMemo(
    () => (notAllowed === undefined ? [...columns, keyActions(turnKey, setDeleting)] : columns),
    [notAllowed, turnKey],
  );
  return (
    <>
      {turn.error && <Problem error={turn.error} />}
      <Table
        label="Public keys"
        list={list}
        columns={withActions}
        rowKey={({ id }) => id}
        empty={
          <Empty
            title="No public keys"
            command={`openssl genrsa -out private.pem 2048
openssl rsa -in private.pem -pubout -out public.pem`}
          >
            With a public key here, your server signs a token for each person, and the components in your
            pages work with it. The private key stays with you.
          </Empty>
        }
      />
      {deleting && (
        <DeleteKey
          of={deleting}
          about="Tokens that were signed for it are refused at once, and for good."
          act={remove.mutateAsync}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  );
}

/** What can be done to a key. */
function useActs(project: string) {
  const path = { projectIdOrName: project };
  const turn = useAct({
    project,
    nouns: ['jwt-keys'],
    act: ({ id, active }: JwtKey) =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}/jwt-keys/{jwtKeyId}', {
          params: { path: { ...path, jwtKeyId: id } },
          body: { updateMask: ['active'], jwtKey: { active: !active } },
        }),
      ),
    onDone: ({ active }) => toast(active ? 'It holds again' : 'It lets nobody in any more'),
  });
  const remove = useAct({
    project,
    nouns: ['jwt-keys'],
    said: 'Deleted',
    act: (id: string) =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/jwt-keys/{jwtKeyId}', {
          params: { path: { ...path, jwtKeyId: id } },
        }),
      ),
  });
  return { turn, remove };
}

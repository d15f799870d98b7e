import { onlyPage, type ApiKey, type ApiKeyPage } from '@svc/client';
import { useMemo, useState, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { scopes as named } from '../../forms/api-key-create.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { DeleteKey, keyActions } from './row-actions.tsx';
import { KeyState } from './state.tsx';

const titleOf = (scope: string): string => named.find(([name]) => name === scope)?.[1] ?? scope;

const columns: readonly Column<ApiKey>[] = [
  { title: 'Label', width: '26%', cell: ({ label }) => <span className="strong">{label}</span> },
  { title: 'State', width: '7rem', cell: (key) => <KeyState {...key} /> },
  { title: 'May', width: '26%', cell: ({ scopes }) => scopes.map(titleOf).join(', ') },
  { title: 'Group', width: '14%', cell: ({ groupRef }) => groupRef ?? <span className="muted">All</span> },
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

/** The API keys, and what can be done to one. */
export function ApiKeys({ project }: { project: string }): ReactNode {
  const path = { projectIdOrName: project };
  const notAllowed = useNotAllowed(project, 'develop');
  const [deleting, setDeleting] = useState<ApiKey>();
  const list = useList([project, 'api-keys', 'list'], async (query) =>
    onlyPage<ApiKeyPage>(
      await answer(api.GET('/v1/projects/{projectIdOrName}/api-keys', { params: { path, query } })),
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
        label="API keys"
        list={list}
        columns={withActions}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No API keys" command={'svc keys create --label backend --scopes write,read'}>
            Your servers call the API with a key. It is shown once, when it is made.
          </Empty>
        }
      />
      {deleting && (
        <DeleteKey
          of={deleting}
          about="Whatever uses it is let in no more, at once and for good."
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
    nouns: ['api-keys'],
    act: ({ id, active }: ApiKey) =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}/api-keys/{apiKeyId}', {
          params: { path: { ...path, apiKeyId: id } },
          body: { updateMask: ['active'], apiKey: { active: !active } },
        }),
      ),
    onDone: ({ active }) => toast(active ? 'It holds again' : 'It lets nobody in any more'),
  });
  const remove = useAct({
    project,
    nouns: ['api-keys'],
    said: 'Deleted',
    act: (id: string) =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/api-keys/{apiKeyId}', {
          params: { path: { ...path, apiKeyId: id } },
        }),
      ),
  });
  return { turn, remove };
}

import { onlyPage, type ProviderApp, type ProviderAppPage } from '@svc/client';
import { Ellipsis } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { ProviderAppForm } from '../../forms/provider-app.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Chosen = { act: 'edit' | 'delete'; app: ProviderApp } | { act: 'create'; app?: undefined };

const columns: readonly Column<ProviderApp>[] = [
  {
    title: 'Provider',
    width: '24%',
    cell: ({ provider, isDefault }) => (
      <>
        <span className="strong">{provider}</span> {isDefault && <Badge tone="info">Default</Badge>}
      </>
    ),
  },
  { title: 'Client id', width: '32%', cell: ({ clientId }) => <Id value={clientId} /> },
  { title: 'Scopes', width: '32%', cell: ({ scopes = [] }) => scopes.join(' ') },
  { title: 'Changed', width: '12.5rem', cell: ({ updateTime }) => <Time at={updateTime} /> },
];

/** The OAuth clients of the project; of one provider where it is named. */
export function ProviderApps({ project, provider }: { project: string; provider?: string }): ReactNode {
  const [chosen, setChosen] = useState<Chosen>();
  const notAllowed = useNotAllowed(project, 'develop');
  const list = useList([project, 'provider-apps', 'list'], async (query) =>
    onlyPage<ProviderAppPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/provider-apps', {
          params: { path: { projectIdOrName: project }, query },
        }),
      ),
    ),
  );
  const all = useMemo(
    () => (notAllowed === undefined ? [...columns, actions(setChosen)] : columns),
    [notAllowed],
  );
  const items = provider === undefined ? list.items : list.items.filter((app) => app.provider === provider);
  const create = (
    <Button disabledFor={notAllowed} onClick={() => setChosen({ act: 'create' })}>
      New provider app
    </Button>
  );
  return (
    <>
      {items.length > 0 && <div className="row row-end">{create}</div>}
      <Table
        label="Provider apps"
        list={{ ...list, items }}
        columns={all}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No provider apps" action={create}>
            Make an OAuth client at the provider, with the redirect URI that the form here shows, and enter
            its id and secret.
          </Empty>
        }
      />
      <Chosen project={project} provider={provider} chosen={chosen} onClose={() => setChosen(undefined)} />
    </>
  );
}

function Chosen(props: {
  project: string;
  provider: string | undefined;
  chosen: Chosen | undefined;
  onClose: () => void;
}): ReactNode {
  const { project, provider, chosen, onClose } = props;
  const remove = useAct({
    project,
    nouns: ['provider-apps'],
    said: 'Deleted',
    act: (providerAppId: string) =>
      answer(
        api.DELETE('/v1/projects/{projectIdOrName}/provider-apps/{providerAppId}', {
          params: { path: { projectIdOrName: project, providerAppId } },
        }),
      ),
  });
  if (!chosen) return null;
  if (chosen.act !== 'delete')
    return (
      <ProviderAppForm
        project={project}
        onClose={onClose}
        {...(chosen.app ? { app: chosen.app } : {})}
        {...(provider === undefined ? {} : { provider })}
      />
    );
  return (
    <Confirm
      title={`Delete the client at ${chosen.app.provider}?`}
      verb="Delete the provider app"
      act={() => remove.mutateAsync(chosen.app.id)}
      onDone={onClose}
      onClose={onClose}
    >
      Connections that were made with it cannot refresh their tokens any more.
    </Confirm>
  );
}

const actions = (choose: (chosen: Chosen) => void): Column<ProviderApp> => ({
  title: 'Actions',
  width: '5rem',
  align: 'end',
  cell: (app) => (
    <Menu
      label={`Actions of the client at ${app.provider}`}
      look="button button-quiet button-icon"
      button={<Ellipsis size={16} aria-hidden />}
      entries={[
        { label: 'Change …', onSelect: () => choose({ act: 'edit', app }) },
        { label: 'Delete …', isDangerous: true, onSelect: () => choose({ act: 'delete', app }) },
      ]}
    />
  ),
});

import { onlyPage, type Integration, type IntegrationPage } from '@svc/client';
import { Link } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { doesOf } from './manifest.ts';

const columns: readonly Column<Integration>[] = [
  {
    title: 'Integration',
    width: '40%',
    cell: (integration) => <Name integration={integration} />,
  },
  { title: 'Provider', width: '20%', cell: ({ provider }) => provider },
  {
    title: 'What it does',
    width: '40%',
    cell: ({ latestRevision }) => doesOf(latestRevision.content).join(' · '),
  },
  {
    title: 'Last deploy',
    width: '12.5rem',
    cell: ({ latestRevision }) => <Time at={latestRevision.createTime} />,
  },
];

function Name({ integration }: { integration: Integration }): ReactNode {
  const project = useProject();
  const { name, latestRevision } = integration;
  return (
    <Link
      to="/projects/$project/integrations/$integration"
      params={{ project, integration: name }}
      className="row-link"
    >
      <span className="strong">{name}</span>
      <span className="muted"> {latestRevision.content.displayName}</span>
    </Link>
  );
}

/** What the project's manifest says is read and written. */
export function IntegrationsPage(): ReactNode {
  const project = useProject();
  const list = useList([project, 'integrations', 'list'], async (query) =>
    onlyPage<IntegrationPage>(
      await answer(
        api.GET('/v1/projects/{projectIdOrName}/integrations', {
          params: { path: { projectIdOrName: project }, query },
        }),
      ),
    ),
  );
  const notAllowed = useNotAllowed(project, 'develop');
  const toDeploy = notAllowed ? (
    <Button disabledFor={notAllowed} icon={<Upload size={16} aria-hidden />}>
      Deploy a manifest
    </Button>
  ) : (
    <Link to="/projects/$project/deploy" params={{ project }} className="button button-primary">
      <Upload size={16} aria-hidden />
      Deploy a manifest
    </Link>
  );
  return (
    <Page
      title="Integrations"
      about="What your manifest says is read from and written to the accounts of your customers."
      actions={toDeploy}
    >
      <Table
        label="Integrations"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No integrations" command={'svc init svc.yaml\nsvc deploy svc.yaml'}>
            A manifest names the objects of a provider that your product reads and writes. Write it beside
            your code and deploy it from there, or write it here.
          </Empty>
        }
      />
    </Page>
  );
}

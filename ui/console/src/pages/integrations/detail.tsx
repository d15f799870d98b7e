import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { Integration } from '@svc/client';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { loaded } from '../../data/loaded.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { DeleteIntegration } from '../../forms/integration-delete.tsx';
import { NotFound } from '../../shell/lost.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Loading, Page } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { doesOf, yamlOf } from './manifest.ts';
import { integrationQuery } from './queries.ts';

// What shows differences is large, and needed by this tab only.
const Revisions = lazy(async () => ({ default: (await loaded(() => import('./revisions.tsx'))).Revisions }));

/** One integration: what it is now, and what each deploy made of it. */
export function IntegrationPage(): ReactNode {
  const project = useProject();
  const { integration: name = '' } = useParams({ strict: false });
  const { filters, setFilters } = useFilters();
  const { data, error, refetch } = useQuery(integrationQuery(project, name));
  if (isNotFound(error)) return <NotFound what="integration" />;
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={8} />;
  const { latestRevision: revision, provider } = data;
  return (
    <Page
      title={revision.content.displayName ?? data.name}
      about={doesOf(revision.content).join(' · ')}
      actions={<Actions project={project} integration={data} />}
    >
      <Facts
        of={[
          ['Name', data.name],
          ['Id', <Id key="id" value={data.id} />],
          [
            'Provider',
            <Link key="provider" to="/projects/$project/providers/$provider" params={{ project, provider }}>
              {provider}
            </Link>,
          ],
          ['Last deploy', <Time key="at" at={revision.createTime} look="full" />],
        ]}
      />
      <Tabs
        label="Parts of the integration"
        chosen={filters['tab'] ?? 'manifest'}
        onChoose={(tab) => setFilters({ tab: tab === 'manifest' ? '' : tab })}
        tabs={[
          {
            id: 'manifest',
            title: 'Manifest',
            content: <Code text={yamlOf(revision.content)} label="The integration in svc.yaml" />,
          },
          {
            id: 'revisions',
            title: 'Revisions',
            content: (
              <Suspense fallback={<Loading />}>
                <Revisions project={project} integration={data.name} />
              </Suspense>
            ),
          },
        ]}
      />
    </Page>
  );
}

function Actions({ project, integration }: { project: string; integration: Integration }): ReactNode {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  return (
    <>
      <Link to="/projects/$project/deploy" params={{ project }} className="button button-plain">
        Change and deploy
      </Link>
      <Button look="danger" disabledFor={notAllowed} onClick={() => setDeleting(true)}>
        Delete …
      </Button>
      {isDeleting && (
        <DeleteIntegration
          project={project}
          integration={integration}
          onClose={() => setDeleting(false)}
          onDone={() => void navigate({ to: '/projects/$project/integrations', params: { project } })}
        />
      )}
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Installation } from '@svc/client';
import type { ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useProject } from '../../data/project.ts';
import { NotFound } from '../../shell/lost.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts, Loading, Page } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { BadCredentials, ConnectionLink } from '../connections/link.tsx';
import { Who } from '../people/who.tsx';
import { InstallationActions } from './actions.tsx';
import { IntegrationName } from './columns.tsx';
import { ConfigTab } from './config.tsx';
import { History } from './history.tsx';
import { health, installationQuery, troubleOf } from './queries.ts';
import { Reads } from './reads.tsx';

/** One customer's integration: whether it works, what it reads, and what it is configured to. */
export function InstallationPage(): ReactNode {
  const project = useProject();
  const { installationId = '' } = useParams({ strict: false });
  const { filters, setFilters } = useFilters();
  const { data: installation, error, refetch } = useQuery(installationQuery(project, installationId));
  if (isNotFound(error)) return <NotFound what="installation" />;
  if (error && !installation) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!installation) return <Loading lines={8} />;
  const [word, tone] = health[installation.healthStatus];
  const given = { project, installation };
  return (
    <Page
      title={installation.group.groupName}
      beside={
        <>
          <Badge tone={tone}>{word}</Badge>
          <span className="muted">
            <IntegrationName id={installation.integrationId} />
          </span>
        </>
      }
      actions={<InstallationActions {...given} />}
    >
      <Trouble {...given} />
      <InstallationFacts {...given} />
      <Tabs
        label="Parts of the installation"
        chosen={filters['tab'] ?? 'reads'}
        onChoose={(tab) => setFilters({ tab: tab === 'reads' ? '' : tab })}
        tabs={[
          { id: 'reads', title: 'Reads', content: <Reads {...given} /> },
          { id: 'config', title: 'Config', content: <ConfigTab {...given} /> },
          { id: 'history', title: 'History', content: <History {...given} /> },
        ]}
      />
    </Page>
  );
}

interface Given {
  project: string;
  installation: Installation;
}

/** Why it does not work, and where that is mended. */
function Trouble({ project, installation }: Given): ReactNode {
  const trouble = troubleOf(installation);
  const { connection } = installation;
  if (trouble === undefined) return null;
  if (!connection)
    return (
      <Notice tone="bad" title={trouble}>
        The customer must connect an account again; it is used from then on.
      </Notice>
    );
  if (connection.status === 'bad_credentials')
    return <BadCredentials project={project} connection={connection} title={trouble} />;
  return (
    <Notice tone="bad" title={trouble}>
      See{' '}
      <Link
        to="/projects/$project/operations"
        params={{ project }}
        search={{ installationId: installation.id, status: 'failure' }}
      >
        what failed
      </Link>
      , and what the provider answered.
    </Notice>
  );
}

function InstallationFacts({ project, installation }: Given): ReactNode {
  const { id, group, connection, createTime, updateTime, createdBy } = installation;
  const of = { installationId: id };
  return (
    <Facts
      of={[
        ['Installation', <Id key="id" value={id} />],
        ['Group', <Id key="group" value={group.groupRef} />],
        [
          'Connection',
          connection && <ConnectionLink key="connection" project={project} connection={connection} />,
        ],
        ['Installed', <Time key="at" at={createTime} look="full" />],
        ['By', <Who key="by" by={createdBy} />],
        ['Config changed', updateTime && <Time key="changed" at={updateTime} look="full" />],
        [
          'Its work',
          <span key="work" className="row">
            <Link to="/projects/$project/operations" params={{ project }} search={of}>
              Operations
            </Link>
            <Link to="/projects/$project/deliveries" params={{ project }} search={of}>
              Deliveries
            </Link>
            <Link to="/projects/$project/proxy-logs" params={{ project }} search={of}>
              Proxied calls
            </Link>
          </span>,
        ],
      ]}
    />
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Connection } from '@svc/client';
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
import { ConnectionActions } from './actions.tsx';
import { ConnectionEvents } from './events.tsx';
import { ConnectionInstallations } from './installations.tsx';
import { budgetAgainMs, connectionQuery, isMoved, schemes, stateOf } from './queries.ts';
import { ConnectionWork } from './work.tsx';

/** One account of a customer: whether it works, what happened to it, and what it is used for. */
export function ConnectionPage(): ReactNode {
  const project = useProject();
  const { connectionId = '' } = useParams({ strict: false });
  const { filters, setFilters } = useFilters();
  const {
    data: connection,
    error,
    refetch,
  } = useQuery({
    ...connectionQuery(project, connectionId),
    // A budget is no change of a connection; nobody asks while the page is hidden.
    refetchInterval: budgetAgainMs,
  });
  if (isNotFound(error)) return <NotFound what="connection" />;
  if (error && !connection) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!connection) return <Loading lines={8} />;
  const [word, tone] = stateOf(connection);
  return (
    <Page
      title={`${connection.group.groupName} · ${connection.provider}`}
      beside={<Badge tone={tone}>{word}</Badge>}
      actions={<ConnectionActions project={project} connection={connection} />}
    >
      <Trouble connection={connection} />
      <ConnectionFacts project={project} connection={connection} />
      <Tabs
        label="Parts of the connection"
        chosen={filters['tab'] ?? 'events'}
        onChoose={(tab) => setFilters({ tab: tab === 'events' ? '' : tab })}
        tabs={[
          {
            id: 'events',
            title: 'Events',
            content: <ConnectionEvents project={project} connectionId={connection.id} />,
          },
          {
            id: 'installations',
            title: 'Installations',
            content: <ConnectionInstallations project={project} connection={connection} />,
          },
          {
            id: 'logs',
            title: 'Logs',
            content: <ConnectionWork project={project} connection={connection} />,
          },
        ]}
      />
    </Page>
  );
}

/** What keeps it from working, and what to do. */
function Trouble({ connection }: { connection: Connection }): ReactNode {
  const { status, statusDetail, isAside, missingScopes = [], group } = connection;
  if (isMoved(connection))
    return (
      <Notice tone="bad" title={statusDetail}>
        Its customer is read and written there. <code>svc export --undo</code> uses it here again.
      </Notice>
    );
  if (isAside)
    return (
      <Notice tone="info" title={statusDetail}>
        Nothing uses them, and nobody needs to connect again for them: the connection of the account keeps its
        own. Import their refresh token again once it will pass, or delete this connection.
      </Notice>
    );
  if (status === 'bad_credentials')
    return (
      <Notice tone="bad" title={statusDetail ?? 'The provider does not take the credentials any more.'}>
        Somebody of {group.groupName} must connect the account again. Until then nothing is read, and writes
        are refused. Those that waited fail and can be retried afterwards; what may have been written is
        looked for then.
      </Notice>
    );
  if (missingScopes.length > 0)
    return (
      <Notice tone="warning" title={`It was not allowed everything: ${missingScopes.join(', ')}`}>
        What needs these scopes is refused. Connecting again asks for them.
      </Notice>
    );
  return null;
}

function TokenAge({
  connection: { status, isAside, tokenIssueTime, tokenExpireTime },
}: {
  connection: Connection;
}): ReactNode {
  if (!tokenIssueTime && !tokenExpireTime) return undefined;
  if (status === 'bad_credentials') return isAside ? 'Not used' : 'Not taken any more';
  return (
    <>
      {tokenIssueTime && (
        <>
          of <Time at={tokenIssueTime} look="ago" />
        </>
      )}
      {tokenExpireTime && (
        <>
          , ends <Time at={tokenExpireTime} look="ago" />
        </>
      )}
    </>
  );
}

/** What the provider said last of how many calls it takes. */
function rateOf({ rateBudget }: Connection): ReactNode {
  if (!rateBudget) return undefined;
  const { closedUntil, lockedOut, limit, remaining } = rateBudget;
  if (closedUntil)
    return (
      <>
        {lockedOut ? 'Locked out' : 'Reached'}: nothing queued is sent until{' '}
        <Time at={closedUntil} look="full" />
      </>
    );
  if (remaining === undefined) return undefined;
  const of = limit === undefined ? '' : ` of ${limit.toLocaleString()}`;
  return `${remaining.toLocaleString()}${of} calls left`;
}

function ConnectionFacts(props: { project: string; connection: Connection }): ReactNode {
  const { project, connection } = props;
  const { id, group, consumer, authScheme, providerApp, providerMetadata = {} } = connection;
  return (
    <Facts
      of={[
        ['Connection', <Id key="id" value={id} />],
        ['Group', <Id key="group" value={group.groupRef} />],
        ['Connected by', consumer.consumerName],
        ['By', schemes[authScheme]],
        ['Account', connection.providerWorkspaceRef],
        ['Provider app', providerApp?.clientId],
        ['Access token', <TokenAge key="token" connection={connection} />],
        ['Rate budget', rateOf(connection)],
        ['Connected', <Time key="at" at={connection.createTime} look="full" />],
        [
          'Last change',
          connection.updateTime && <Time key="changed" at={connection.updateTime} look="full" />,
        ],
        [
          'Work of the group',
          <span key="work" className="row">
            <Link
              to="/projects/$project/operations"
              params={{ project }}
              search={{ groupRef: group.groupRef }}
            >
              Operations
            </Link>
            <Link
              to="/projects/$project/deliveries"
              params={{ project }}
              search={{ groupRef: group.groupRef }}
            >
              Deliveries
            </Link>
          </span>,
        ],
        ...Object.entries(providerMetadata).map(
          ([name, { value, displayName }]) => [displayName ?? name, value] as const,
        ),
      ]}
    />
  );
}

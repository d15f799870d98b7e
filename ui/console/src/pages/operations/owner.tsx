import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Installation, Operation } from '@svc/client';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Notice } from '../../ui/notice.tsx';
import { isNotFound } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { BadCredentials, ConnectionLink } from '../connections/link.tsx';
import { budgetAgainMs } from '../connections/queries.ts';
import { IntegrationName } from '../installations/columns.tsx';
import { installationQuery, integrationsQuery, troubleOf } from '../installations/queries.ts';

/** The installation that an operation is of, which says whose it is; nothing while it is asked for, null once it is deleted. */
export function useOwner(
  project: string,
  { installationId, status }: Operation,
): Installation | null | undefined {
  const options = installationQuery(project, installationId);
  // A budget is no change of an installation.
  const again = status === 'in_progress' ? { refetchInterval: budgetAgainMs } : {};
  const { data, error } = useQuery({ ...options, ...again });
  return isNotFound(error) ? null : data;
}

/** When it is tried next: not before the provider takes calls of the connection again. */
export function nextAttemptOf({ metadata }: Operation, owner: Installation | null | undefined): ReactNode {
  const { nextAttempt } = metadata.retry;
  const { closedUntil } = owner?.connection?.rateBudget ?? {};
  if (nextAttempt === undefined) return undefined;
  if (closedUntil !== undefined && Date.parse(closedUntil) > Date.parse(nextAttempt))
    return (
      <>
        <Time at={closedUntil} look="ago" />, once the limit of the provider is over
      </>
    );
  return Date.parse(nextAttempt) > Date.now() ? <Time at={nextAttempt} look="ago" /> : 'due';
}

/** Whose it is, each with the way there. */
export function ownerFacts(
  project: string,
  { installationId, integrationId, groupRef: itsGroup }: Operation,
  owner: Installation | null | undefined,
): (readonly [string, ReactNode])[] {
  const { groupRef = itsGroup, groupName = itsGroup } = owner?.group ?? {};
  const whose = [
    [
      'Group',
      groupRef === undefined ? undefined : (
        <Link key="group" to="/projects/$project/operations" params={{ project }} search={{ groupRef }}>
          {groupName}
        </Link>
      ),
    ],
    ['Integration', <IntegrationLink key="integration" project={project} integrationId={integrationId} />],
  ] as const;
  if (!owner)
    return [
      ...whose,
      [
        'Installation',
        <>
          <Id key="installation" value={installationId} isShort /> {owner === null && <Badge>Deleted</Badge>}
        </>,
      ],
    ];
  const { connection } = owner;
  return [
    ...whose,
    [
      'Installation',
      <Link
        key="installation"
        to="/projects/$project/installations/$installationId"
        params={{ project, installationId }}
      >
        <code title={installationId}>…{installationId.slice(-10)}</code>
      </Link>,
    ],
    [
      'Connection',
      connection && <ConnectionLink key="connection" project={project} connection={connection} />,
    ],
  ];
}

function IntegrationLink(props: { project: string; integrationId: string }): ReactNode {
  const { project, integrationId } = props;
  const { data } = useQuery(integrationsQuery(project));
  if (data?.some(({ id }) => id === integrationId) === false)
    return (
      <>
        <Id value={integrationId} isShort /> <Badge>Deleted</Badge>
      </>
    );
  return (
    <Link to="/projects/$project/integrations/$integration" params={{ project, integration: integrationId }}>
      <IntegrationName id={integrationId} />
    </Link>
  );
}

/** That its customer must connect again, or that there is nothing any more that it could be written through. */
export function OwnerTrouble(props: {
  project: string;
  installation: Installation | null | undefined;
}): ReactNode {
  const { project, installation } = props;
  if (installation === null)
    return (
      <Notice tone="info" title="Its installation was deleted.">
        Nothing is read or written through it any more. What it did is shown as long as the project keeps it.
      </Notice>
    );
  const connection = installation?.connection;
  if (!installation || connection?.status !== 'bad_credentials') return null;
  return <BadCredentials project={project} connection={connection} title={troubleOf(installation)} />;
}

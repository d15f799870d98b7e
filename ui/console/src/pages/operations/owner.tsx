import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Installation, Operation } from '@svc/client';
import type { ReactNode } from 'react';
import { Id } from '../../ui/copy.tsx';
import { Time } from '../../ui/time.tsx';
import { BadCredentials, ConnectionLink } from '../connections/link.tsx';
import { budgetAgainMs } from '../connections/queries.ts';
import { IntegrationName } from '../installations/columns.tsx';
import { installationQuery, troubleOf } from '../installations/queries.ts';

/** The installation that an operation is of, which says whose it is; nothing while it is asked for, and once it is deleted. */
export function useOwner(project: string, { installationId, status }: Operation): Installation | undefined {
  const options = installationQuery(project, installationId);
  // A budget is no change of an installation.
  const again = status === 'in_progress' ? { refetchInterval: budgetAgainMs } : {};
  return useQuery({ ...options, ...again }).data;
}

/** When it is tried next: not before the provider takes calls of the connection again. */
export function nextAttemptOf({ metadata }: Operation, owner: Installation | undefined): ReactNode {
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
  owner: Installation | undefined,
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
    [
      'Integration',
      <Link
        key="integration"
        to="/projects/$project/integrations/$integration"
        params={{ project, integration: integrationId }}
      >
        <IntegrationName id={integrationId} />
      </Link>,
    ],
  ] as const;
  if (!owner) return [...whose, ['Installation', <Id key="installation" value={installationId} isShort />]];
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

/** That its customer must connect again. */
export function OwnerTrouble(props: { project: string; installation: Installation | undefined }): ReactNode {
  const { project, installation } = props;
  const connection = installation?.connection;
  if (!installation || connection?.status !== 'bad_credentials') return null;
  return <BadCredentials project={project} connection={connection} title={troubleOf(installation)} />;
}

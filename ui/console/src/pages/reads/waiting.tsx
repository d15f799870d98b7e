import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Destination, Operation, ReadState } from '@svc/client';
import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { destinationsQuery, mostNamed } from '../destinations/queries.ts';
import { readsQuery } from './queries.ts';

/** Why nothing is read: the destination takes nothing, is not there, or none is named. */
type Fault = { disabled: Destination } | { missing: string } | 'unnamed';

/** What a run of the read would wait for, as its log says it; nothing where its destination takes what is read. */
function faultOf(
  { destination }: Pick<ReadState, 'destination'>,
  known: readonly Destination[],
): Fault | undefined {
  if (destination === undefined) return 'unnamed';
  const found = known.find(
    ({ id, name }) => id === destination || name.toLowerCase() === destination.toLowerCase(),
  );
  if (found) return found.status === 'disabled' ? { disabled: found } : undefined;
  return known.length < mostNamed ? { missing: destination } : undefined;
}

export function useFault(project: string, read: ReadState | undefined): Fault | undefined {
  const { data: known } = useQuery({ ...destinationsQuery(project), enabled: read !== undefined });
  return read && known ? faultOf(read, known) : undefined;
}

/** What an operation waits for that is a read and has not ended. */
export function useRunFault(project: string, operation: Operation): Fault | undefined {
  const { actionType, status, integrationId, installationId, resource } = operation;
  const isUnderWay = actionType === 'read' && status === 'in_progress';
  const { data: reads = [] } = useQuery({
    ...readsQuery(project, { integrationId, id: installationId }),
    enabled: isUnderWay,
  });
  const fault = useFault(
    project,
    reads.find(({ objectName }) => objectName.toLowerCase() === resource.toLowerCase()),
  );
  return isUnderWay ? fault : undefined;
}

/** That nothing is read for now, and what lets it go on. */
export function WaitsForDestination({ project, fault }: { project: string; fault: Fault }): ReactNode {
  return (
    <Notice tone="warning" title="Nothing is read for now.">
      <WhatHelps project={project} fault={fault} />
    </Notice>
  );
}

function WhatHelps({ project, fault }: { project: string; fault: Fault }): ReactNode {
  if (fault === 'unnamed')
    return <>It has no destination: name one in the config or the manifest, and it goes on by itself.</>;
  if ('missing' in fault) return <>It waits until there is a destination {fault.missing}.</>;
  const { id, name } = fault.disabled;
  return (
    <>
      It waits until the destination{' '}
      <Link to="/projects/$project/destinations/$destination" params={{ project, destination: id }}>
        {name}
      </Link>{' '}
      is enabled, and goes on by itself.
    </>
  );
}

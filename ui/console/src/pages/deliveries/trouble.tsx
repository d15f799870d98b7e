import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DeliveryDetail, Destination } from '@svc/client';
import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { destinationQuery, isFailing } from '../destinations/queries.ts';

interface OfDelivery {
  project: string;
  delivery: DeliveryDetail;
}

/** Where a message that waits is to go; what is over asks for nothing. */
export function useDestination(
  project: string,
  { status, destinationId }: DeliveryDetail,
): Destination | undefined {
  const isWaiting = status === 'pending';
  const { data } = useQuery({ ...destinationQuery(project, destinationId), enabled: isWaiting });
  return isWaiting ? data : undefined;
}

/** What keeps a message from its destination, and what becomes of it by itself. */
export function Trouble({ project, delivery }: OfDelivery): ReactNode {
  const { status, error, httpStatus } = delivery;
  const destination = useDestination(project, delivery);
  const what = error ?? (httpStatus && `The destination answered ${httpStatus}.`);
  if (status === 'failed')
    return (
      <Notice tone="bad" title={what ?? 'It was not taken.'}>
        It is not tried again by itself. Mend the destination, then send it again.
      </Notice>
    );
  if (destination?.status === 'disabled')
    return (
      <Notice tone="warning" title={what ?? 'Its destination is disabled.'}>
        It waits until {there(project, destination, 'its destination')} is enabled, and is not tried before.
      </Notice>
    );
  if (status !== 'pending' || what === undefined) return null;
  return (
    <Notice tone="warning" title={what}>
      {destination && isFailing(destination) && (
        <>Once its destination is mended, {there(project, destination, 'send what waits there now')}. </>
      )}
      <Again at={delivery.nextAttemptTime} />
    </Notice>
  );
}

function Again({ at }: { at: string | undefined }): ReactNode {
  if (at === undefined) return 'It is tried again by itself.';
  return (
    <>
      It is tried again by itself: <Time at={at} look="ago" />
    </>
  );
}

function there(project: string, { id }: Destination, text: string): ReactNode {
  return (
    <Link to="/projects/$project/destinations/$destination" params={{ project, destination: id }}>
      {text}
    </Link>
  );
}

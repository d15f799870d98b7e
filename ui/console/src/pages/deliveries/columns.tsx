import { Link } from '@tanstack/react-router';
import type { Delivery } from '@svc/client';
import type { ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useDestinationNames } from '../destinations/queries.ts';
import { carriedBy, stateOf } from './queries.ts';

export const deliveryColumns: readonly Column<Delivery>[] = [
  {
    title: 'Status',
    width: '9.5rem',
    cell: (delivery) => {
      const [word, tone] = stateOf(delivery);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { title: 'What', width: '45%', cell: (delivery) => <What delivery={delivery} /> },
  { title: 'To', width: '20%', cell: ({ destinationId }) => <DestinationName id={destinationId} /> },
  { title: 'Group', width: '15%', cell: ({ groupRef }) => groupRef },
  { title: 'Attempts', width: '6rem', align: 'end', cell: ({ attemptCount }) => attemptCount },
  { title: 'Made', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];

function What({ delivery }: { delivery: Delivery }): ReactNode {
  const project = useProject();
  const { id, error, httpStatus } = delivery;
  return (
    <Link
      to="/projects/$project/deliveries/$deliveryId"
      params={{ project, deliveryId: id }}
      className="row-link"
    >
      <span className="strong">{carriedBy(delivery)}</span>
      <span className="muted"> {error ?? (httpStatus && `answered ${httpStatus}`)}</span>
    </Link>
  );
}

/** Where a delivery goes, by name where the person may know it. */
export function DestinationName({ id }: { id: string }): ReactNode {
  return useDestinationNames(useProject())[id] ?? <code>{id}</code>;
}

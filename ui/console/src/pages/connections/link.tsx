import { Link } from '@tanstack/react-router';
import type { Connection } from '@svc/client';
import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { isMoved } from './queries.ts';

interface Given {
  project: string;
  connection: Connection;
}

/** Who connected the account, with the way to the connection. */
export function ConnectionLink({ children, ...given }: Given & { children?: ReactNode }): ReactNode {
  const { project, connection } = given;
  return (
    <Link to="/projects/$project/connections/$connectionId" params={{ project, connectionId: connection.id }}>
      {children ?? connection.consumer.consumerName}
    </Link>
  );
}

/** Credentials that are not taken any more are mended by the customer: the page of the connection makes the link. */
export function BadCredentials({ title, ...given }: Given & { title: string | undefined }): ReactNode {
  const { connection } = given;
  if (isMoved(connection)) return <Notice tone="bad" title={title} />;
  return (
    <Notice tone="bad" title={title}>
      <ConnectionLink {...given}>Make a link</ConnectionLink> by which {connection.group.groupName} connects
      again; then retry what failed.
    </Notice>
  );
}

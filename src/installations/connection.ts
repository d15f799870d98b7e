import type { Reach } from '../events/index.ts';
import { Problem, problem } from '../kit/problem.ts';
import { takeBack, type Connection, type Connections } from '../connections/index.ts';
import type { InstallationsDeps } from './scope.ts';

/** Whose connection is wanted, and to which provider. */
export interface ConnectionNeed {
  reach: Reach;
  groupRef: string;
  provider: string;
}

/**
 * The connection named, or the group's default one (§2.2). Throws not-found for another group's,
 * connection-provider-mismatch, and no-usable-connection when there is none or its credentials stopped working.
 */
export async function chooseConnection(
  { connections }: InstallationsDeps,
  { reach, groupRef, provider }: ConnectionNeed,
  connectionId: string | undefined,
): Promise<string> {
  const connection =
    connectionId === undefined
      ? await connections.findDefault(reach, groupRef, provider)
      : await namedConnection(connections, reach, connectionId);
  if (connectionId !== undefined && connection?.groupRef !== groupRef) {
    throw problem('not-found', { detail: `The group ${groupRef} has no connection ${connectionId}.` });
  }
  if (!connection) {
    throw problem('no-usable-connection', {
      detail: `The group ${groupRef} has no connection to ${provider}.`,
    });
  }
  if (connection.provider !== provider) {
    const detail = `The connection ${connection.id} is to ${connection.provider}, the integration to ${provider}.`;
    throw problem('connection-provider-mismatch', { detail });
  }
  requireUsable({ status: connection.status, is_moved: connection.row.is_moved }, connection);
  return connection.id;
}

/** The connection, or undefined when there is none. */
export async function namedConnection(
  connections: Connections,
  reach: Reach,
  id: string,
): Promise<Connection | undefined> {
  try {
    return await connections.get(reach, id);
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** Throws no-usable-connection for one that is gone, or whose credentials stopped working. */
export function requireUsable(
  held: { status: Connection['status']; is_moved: boolean } | undefined,
  { id, groupRef }: Pick<Connection, 'id' | 'groupRef'>,
): void {
  if (!held) throw problem('no-usable-connection', { detail: `The connection ${id} was deleted meanwhile.` });
  if (held.status !== 'bad_credentials') return;
  throw problem('no-usable-connection', {
    detail: `The credentials of the connection ${id} of the group ${groupRef} stopped working.`,
    remedy: held.is_moved
      ? takeBack
      : `Let the customer connect again: PATCH …/connections/${id}:oauth-update, or connect anew.`,
  });
}

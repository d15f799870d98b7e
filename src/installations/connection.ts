import type { Reach } from '../events/index.ts';
import { Problem, problem } from '../kit/problem.ts';
import type { Connection, Connections } from '../connections/index.ts';
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
  if (connection.status === 'bad_credentials') {
    throw problem('no-usable-connection', {
      detail: `The credentials of the connection ${connection.id} of the group ${groupRef} stopped working.`,
      remedy: `Let the customer connect again: PATCH …/connections/${connection.id}:oauth-update, or connect anew.`,
    });
  }
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

export function connectionGone(connectionId: string): Problem {
  return problem('no-usable-connection', { detail: `The connection ${connectionId} was deleted meanwhile.` });
}

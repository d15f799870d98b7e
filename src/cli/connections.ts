import { connect, type ConnectionOptions } from './connection.ts';
import { say, tell } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

/** `svc connections list`. */
export async function listConnections(
  options: ListOptions & { provider?: string; group?: string },
): Promise<void> {
  const { provider, group } = options;
  const list = (await connect(options)).connections.list({
    ...pageSizeOf(options),
    ...(provider === undefined ? {} : { provider }),
    ...(group === undefined ? {} : { groupRef: group }),
  });
  await sayList(options, list, {
    id: ({ id }) => id,
    provider: (one) => one.provider,
    group: (one) => one.group.groupRef,
    account: ({ providerWorkspaceRef }) => providerWorkspaceRef,
    status: ({ status, statusDetail }) => [status, statusDetail].filter(Boolean).join(': '),
    'missing scopes': ({ missingScopes }) => missingScopes,
  });
}

/** `svc connections get`. */
export async function getConnection(id: string, options: ConnectionOptions): Promise<void> {
  await sayOne(options, await (await connect(options)).connections.get(id));
}

interface ConnectOptions extends ConnectionOptions {
  group: string;
  consumer?: string;
  workspace?: string;
}

/** `svc connections connect`: the link that the customer opens. */
export async function connectAccount(provider: string, options: ConnectOptions): Promise<void> {
  const { group, consumer = group, workspace } = options;
  const url = await (
    await connect(options)
  ).connections.connectUrl({
    provider,
    groupRef: group,
    consumerRef: consumer,
    ...(workspace === undefined ? {} : { providerWorkspaceRef: workspace }),
  });
  sayLink(options, url);
}

/** `svc connections reconnect`: the link that connects the same account again. */
export async function reconnect(id: string, options: ConnectionOptions): Promise<void> {
  sayLink(options, await (await connect(options)).connections.reconnectUrl(id));
}

function sayLink(options: ConnectionOptions, url: string): void {
  say(options, { url }, url);
  if (!options.json) tell('Open it in a browser within ten minutes.');
}

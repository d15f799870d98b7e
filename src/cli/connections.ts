import type { Connection, ConnectionRequest } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { jsonOption } from './json-option.ts';
import { say, tell } from './output.ts';
import { pageSizeOf, sayList, sayOne, type ListOptions } from './rows.ts';

/** `svc connections list`. */
export async function listConnections(
  options: ListOptions & { provider?: string; group?: string; status?: Connection['status'] },
): Promise<void> {
  const { provider, group, status: wanted } = options;
  const list = (await connect(options)).connections.list({
    ...pageSizeOf(options),
    ...(provider === undefined ? {} : { provider }),
    ...(group === undefined ? {} : { groupRef: group }),
    ...(wanted === undefined ? {} : { status: wanted }),
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

interface GenerateOptions extends ConnectOptions {
  credentials: string;
}

/** `svc connections generate`: with credentials at hand, which are given beside what the provider asks for. */
export async function generateConnection(provider: string, options: GenerateOptions): Promise<void> {
  const { group, consumer = group, workspace } = options;
  const credentials = await jsonOption('--credentials', options.credentials, '{"apiKey":"…"}');
  const request = {
    ...credentials,
    provider,
    groupRef: group,
    consumerRef: consumer,
    ...(workspace === undefined ? {} : { providerWorkspaceRef: workspace }),
  } as ConnectionRequest;
  await sayOne(options, await (await connect(options)).connections.generate(request));
}

/** `svc connections delete`. */
export async function deleteConnection(
  id: string,
  options: ConnectionOptions & { yes?: boolean },
): Promise<void> {
  const svc = await connect(options);
  const { provider, group } = await svc.connections.get(id);
  const account = `the connection of ${group.groupRef} to ${provider}`;
  await confirm(`This deletes ${account}. What is installed by it stands still.`, options, {
    without: 'leave it as it is',
    nothing: new Failure('Nothing was deleted.', 'To connect the account again: svc connections reconnect.'),
  });
  await svc.connections.delete(id);
  say(options, { id, deleted: true }, `Deleted ${account}.`);
}

function sayLink(options: ConnectionOptions, url: string): void {
  say(options, { url }, url);
  if (!options.json) tell('Open it in a browser within ten minutes.');
}

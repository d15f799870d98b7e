import { answerOf, onlyPage, type CallOptions, type Calls } from './calls.ts';
import type {
  Connection,
  ConnectionPage,
  ConnectionRequest,
  OAuthConnectRequest,
  operations,
} from './generated/api.ts';
import { listOf, type List } from './pages.ts';

type Query = NonNullable<operations['listConnections']['parameters']['query']>;

export interface Connections {
  /** Newest first; all that is asked for holds. */
  list(of?: Query, options?: CallOptions): List<Connection>;
  get(connectionId: string, options?: CallOptions): Promise<Connection>;
  /** The link that a person of the customer opens to connect an account; it holds for ten minutes. */
  connectUrl(request: Omit<OAuthConnectRequest, 'projectIdOrName'>, options?: CallOptions): Promise<string>;
  /** The link that connects the account of a connection again. */
  reconnectUrl(connectionId: string, options?: CallOptions): Promise<string>;
  /** Connects with credentials at hand. */
  generate(request: ConnectionRequest, options?: CallOptions): Promise<Connection>;
  delete(connectionId: string, options?: CallOptions): Promise<void>;
}

const all = '/v1/projects/{projectIdOrName}/connections';
const one = `${all}/{connectionId}` as const;

export function connectionsOf({ api, projectIdOrName }: Calls): Connections {
  const at = (connectionId: string) => ({ path: { projectIdOrName, connectionId } });
  return {
    list: ({ pageSize, pageToken, ...filter } = {}, options = {}) =>
      listOf(
        async (page) =>
          onlyPage<ConnectionPage>(
            await answerOf(
              api.GET(all, {
                params: { path: { projectIdOrName }, query: { ...filter, ...page } },
                ...options,
              }),
            ),
          ),
        {
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(pageToken === undefined ? {} : { pageToken }),
        },
      ),
    get: (connectionId, options = {}) => answerOf(api.GET(one, { params: at(connectionId), ...options })),
    connectUrl: (request, options = {}) =>
      answerOf(
        api.POST('/v1/oauth-connect', { body: { ...request, projectIdOrName }, parseAs: 'text', ...options }),
      ),
    reconnectUrl: (connectionId, options = {}) =>
      answerOf(api.PATCH(`${one}:oauth-update`, { params: at(connectionId), parseAs: 'text', ...options })),
    generate: (body, options = {}) =>
      answerOf(api.POST(`${all}:generate`, { params: { path: { projectIdOrName } }, body, ...options })),
    delete: (connectionId, options = {}) =>
      answerOf(api.DELETE(one, { params: at(connectionId), ...options })),
  };
}

import { Type } from 'typebox';
import { assertReaches, type Reach } from '../events/index.ts';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../kit/paging-schema.ts';
import { listOrPage } from '../kit/paging.ts';
import { problem } from '../kit/problem.ts';
import { requireSecrets, type Principal } from '../projects/index.ts';
import type { Connections } from './connections.ts';
import type { Connection as StoredConnection } from './present.ts';
import {
  Connection,
  ConnectionRequest,
  ConnectionStatus,
  OAuthConnectRequest,
  UpdateConnectionRequest,
} from './schema.ts';

const tags = ['connections'];
const frontend = { scopes: ['frontend' as const] };
const ProjectParams = Type.Object({ projectIdOrName: Type.String() });
const ConnectionParams = Type.Object({ projectIdOrName: Type.String(), connectionId: Type.String() });
const Url = Type.String({
  title: 'ConnectUrl',
  description: 'The link to open in the browser; it leads here first, then to the provider.',
});

const guarded =
  'Only the browser that opened the link can end the flow, within ten minutes, once. That guards against an answer of the provider that is smuggled into another browser, and against a consent that is asked for from another one. It does not tell who opens the link: who does connects an account of theirs to the group, so hand it only to the person who is signed in with you, and to nobody by mail.';

/** The management routes of connections. */
export function connectionRoutes(connections: Connections): (server: HttpServer) => Promise<void> {
  return async (server) => {
    oauthRoutes(server, connections);
    generateRoute(server, connections);
    listRoute(server, connections);
    getRoute(server, connections);
    changeRoutes(server, connections);
  };
}

function oauthRoutes(server: HttpServer, connections: Connections): void {
  server.route({
    method: 'POST',
    url: '/oauth-connect',
    schema: {
      operationId: 'oauthConnect',
      summary: 'Start to connect an account through OAuth',
      description: `Answers the link to open in a popup, or, with \`returnUrl\`, to send the browser to. ${guarded}`,
      tags,
      body: OAuthConnectRequest,
      response: { 200: { content: { 'text/plain': { schema: Url } } } },
    },
    config: frontend,
    handler: async (request, reply) => {
      const reach = connections.projects.confine(request.principal, request.body.projectIdOrName);
      assertMayConnect(reach, request.body);
      const url = await connections.startOAuth(reach.projectId, request.body);
      return reply.type('text/plain; charset=utf-8').send(url);
    },
  });
  server.route({
    method: 'PATCH',
    url: '/projects/:projectIdOrName/connections/:connectionId(^[^:]+)::oauth-update',
    schema: {
      operationId: 'oauthUpdate',
      summary: 'Start to connect an account again',
      description: `Answers the link to open. The connection keeps its credentials until the new ones are here. ${guarded}`,
      tags,
      params: ConnectionParams,
      response: { 200: { content: { 'text/plain': { schema: Url } } } },
    },
    config: frontend,
    handler: async (request, reply) => {
      const { reach, id } = await ownedForChange(connections, request);
      const url = await connections.restartOAuth(reach, id);
      return reply.type('text/plain; charset=utf-8').send(url);
    },
  });
}

function generateRoute(server: HttpServer, connections: Connections): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/connections::generate',
    schema: {
      operationId: 'generateConnection',
      summary: 'Connect an account with credentials at hand',
      description:
        'Needs `provider`, `groupRef`, `consumerRef` and the block of credentials that fits the provider.',
      tags,
      params: ProjectParams,
      body: ConnectionRequest,
      response: { 201: Connection },
    },
    config: frontend,
    handler: async (request, reply) => {
      const reach = connections.projects.confine(request.principal, request.params.projectIdOrName);
      assertMayConnect(reach, request.body);
      const connection = await connections.generate(reach.projectId, request.body);
      return reply.code(201).send(connections.present(connection));
    },
  });
}

function listRoute(server: HttpServer, connections: Connections): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/connections',
    schema: {
      operationId: 'listConnections',
      summary: 'List connections, newest first',
      tags,
      params: ProjectParams,
      querystring: Type.Object(
        {
          provider: Type.Optional(Type.String()),
          groupRef: Type.Optional(Type.String()),
          consumerRef: Type.Optional(Type.String()),
          status: Type.Optional(ConnectionStatus),
          ...optionalPageQuery,
        },
        { additionalProperties: false },
      ),
      response: { 200: listOrPageOf(Connection) },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request, reply) => {
      const reach = connections.projects.confine(request.principal, request.params.projectIdOrName);
      const { groupRef, provider, consumerRef, status, ...page } = request.query;
      const found = await listOrPage(
        page,
        (slice) => connections.list(reach, { provider, consumerRef, groupRef, status }, slice),
        (rows) => rows.map((connection) => connections.present(connection)),
      );
      return sendList(reply, found);
    },
  });
}

function getRoute(server: HttpServer, connections: Connections): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/connections/:connectionId',
    schema: {
      operationId: 'getConnection',
      summary: 'Get a connection',
      tags,
      params: ConnectionParams,
      querystring: Type.Object(
        {
          includeCreds: Type.Optional(
            Type.Boolean({ description: 'Adds the access token or API key. Scope `full` or `develop`.' }),
          ),
          includeRefreshToken: Type.Optional(
            Type.Boolean({
              description: 'Adds the refresh token, too; implies includeCreds. Scope `full` or `develop`.',
            }),
          ),
          refresh: Type.Optional(
            Type.Enum(['force', 'ifExpired'], {
              description: 'Refreshes the token first. Scope `full` or `develop`.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: Connection },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request, reply) => {
      const { includeCreds = false, includeRefreshToken = false, refresh } = request.query;
      const { reach, id, connection } = await owned(connections, request);
      const showsSecrets = includeCreds || includeRefreshToken;
      if (showsSecrets || refresh)
        requireSecrets(
          request.principal,
          'Credentials are shown and refreshed only for the scopes full and develop.',
        );
      if (refresh) await connections.refresh(reach.projectId, id, refresh, connection.groupRef);
      const current = refresh ? await connections.get(reach, id) : connection;
      if (!showsSecrets) return connections.present(current);
      reply.header('cache-control', 'no-store');
      return connections.presentWithSecrets(current, includeRefreshToken);
    },
  });
}

function changeRoutes(server: HttpServer, connections: Connections): void {
  const url = '/projects/:projectIdOrName/connections/:connectionId';
  server.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateConnection',
      summary: 'Change the description or the credentials of a connection',
      description:
        "Account and inputs, which may decide where credentials are sent, change only together with new credentials; those are tried first. A token changes its own consumer's connections.",
      tags,
      params: ConnectionParams,
      body: UpdateConnectionRequest,
      response: { 200: Connection },
    },
    config: frontend,
    handler: async (request) => {
      const { reach, id } = await ownedForChange(connections, request);
      return connections.present(await connections.update(reach, id, request.body));
    },
  });
  server.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'deleteConnection',
      summary: 'Delete a connection',
      description:
        'Its authorization is ended at the provider where that is possible. Installations that use it become unhealthy.',
      tags,
      params: ConnectionParams,
      response: { 204: Type.Null() },
    },
    config: frontend,
    handler: async (request, reply) => {
      const { reach, id } = await ownedForChange(connections, request);
      await connections.delete(reach, id);
      return reply.code(204).send(null);
    },
  });
}

interface Addressed {
  principal: Principal;
  params: { projectIdOrName: string; connectionId: string };
}

interface Owned {
  reach: Reach;
  id: string;
  connection: StoredConnection;
}

/** The connection of the path, if it exists for the caller. */
async function owned(connections: Connections, { principal, params }: Addressed): Promise<Owned> {
  const reach = connections.projects.confine(principal, params.projectIdOrName);
  const connection = await connections.get(reach, params.connectionId);
  return { reach, id: connection.id, connection };
}

/** The same, for changes: those who share a group see its connections, but a person's token changes only that person's. */
async function ownedForChange(connections: Connections, addressed: Addressed): Promise<Owned> {
  const found = await owned(connections, addressed);
  assertOneself(found.reach, found.connection.consumerRef);
  return found;
}

/** A caller connects in a group that exists for it, and a person as oneself. */
function assertMayConnect(reach: Reach, asked: { groupRef?: string; consumerRef?: string }): void {
  if (asked.groupRef !== undefined) assertReaches(reach, asked.groupRef);
  if (asked.consumerRef !== undefined) assertOneself(reach, asked.consumerRef);
}

function assertOneself({ consumerRef: own }: Reach, consumerRef: string): void {
  if (own === undefined || own === consumerRef) return;
  throw problem('forbidden', {
    detail: `The token is of the consumer ${own}; this is the connection of the consumer ${consumerRef}.`,
    remedy: `Use a token of that consumer, or an API key.`,
  });
}

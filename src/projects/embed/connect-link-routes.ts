import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../../kit/paging-schema.ts';
import { idParam, ProjectParams } from '../path-params.ts';
import type { Projects } from '../projects.ts';
import { ConnectLink, ConnectLinkRequest, OpenConnectLinkRequest, OpenedConnectLink } from './schema.ts';

const closed = { additionalProperties: false } as const;
const tags = ['connect links'];
const url = '/projects/:projectIdOrName/connect-links';

/** Links to the page where a person connects and installs without a front end of the builder's. */
export function connectLinkRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    createAndList(server, projects);
    deleteRoute(server, projects);
    openRoute(server, projects);
  };
}

function createAndList(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'createConnectLink',
      summary: 'Make a link with which a person connects and installs',
      description:
        'The link leads to a page of this service, in the name and colours of the project. Who opens it acts as that person in that group: send it to nobody else. It can be opened from any stack, in a mail or in a web view.',
      tags,
      params: ProjectParams,
      body: ConnectLinkRequest,
      response: { 201: ConnectLink },
    },
    config: { scopes: [] },
    handler: async (request, reply) => {
      const reach = projects.confine(request.principal, request.params.projectIdOrName);
      const made = await projects.connectLinks.create(reach, request.body);
      return reply.code(201).header('cache-control', 'no-store').send(made);
    },
  });
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listConnectLinks',
      summary: 'List connect links, newest first',
      description: 'A link is gone from the list a week after it expired.',
      tags,
      params: ProjectParams,
      querystring: Type.Object(
        {
          groupRef: Type.Optional(Type.String({ description: 'Only of this group.' })),
          ...optionalPageQuery,
        },
        closed,
      ),
      response: { 200: listOrPageOf(ConnectLink) },
    },
    config: { scopes: ['read'] },
    handler: async (request, reply) => {
      const reach = projects.confine(request.principal, request.params.projectIdOrName);
      return sendList(reply, await projects.connectLinks.list(reach, request.query));
    },
  });
}

function deleteRoute(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'DELETE',
    url: `${url}/:connectLinkId`,
    schema: {
      operationId: 'deleteConnectLink',
      summary: 'Take a connect link back',
      description: 'Tokens that were made for it end with it, on other nodes within two seconds.',
      tags,
      params: idParam('connectLinkId', 'The id of the link.'),
      response: { 204: Type.Null() },
    },
    config: { scopes: [] },
    handler: async (request, reply) => {
      const reach = projects.confine(request.principal, request.params.projectIdOrName);
      await projects.connectLinks.delete(reach, request.params.connectLinkId);
      return reply.code(204).send(null);
    },
  });
}

function openRoute(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'POST',
    url: '/connect-links::open',
    schema: {
      operationId: 'openConnectLink',
      summary: 'Open a connect link',
      description:
        'What the page of the link calls: answers a front-end token, for ten minutes or until the link expires. Called again before that.',
      tags,
      body: OpenConnectLinkRequest,
      response: { 200: OpenedConnectLink },
    },
    config: { scopes: 'public' },
    handler: async (request, reply) => {
      const opening = { ...request.body, address: request.address, requestId: request.id };
      return reply.header('cache-control', 'no-store').send(await projects.connectLinks.open(opening));
    },
  });
}

import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { DeliveryRouteDeps } from '../destination-routes.ts';
import { Replay, ReplayPage, ReplayQuery, ReplayRequest, ReplayStarted } from './schema.ts';

const closed = { additionalProperties: false } as const;
const tags = ['deliveries'];
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const ProjectParams = Type.Object(project, closed);
const ReplayParams = Type.Object(
  { ...project, replayId: Type.String({ description: 'Replay id.' }) },
  closed,
);
const reading = { scopes: ['read' as const], projectWide: true as const };
const mending = { scopes: ['remediate' as const], projectWide: true as const };

/** Sending messages again, below `/v1`. */
export function replayRoutes(deps: DeliveryRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    start(server, deps);
    look(server, deps);
    cancel(server, deps);
  };
}

function start(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/deliveries::replay',
    schema: {
      operationId: 'replayDeliveries',
      summary: 'Send many deliveries again',
      description:
        'Messages that are kept are sent again, the oldest first, with the same id and body and `x-svc-replay: true`, behind everything that is delivered for the first time. What waits for an attempt is left out. Messages that come later are not part of it.',
      tags,
      params: ProjectParams,
      body: ReplayRequest,
      response: { 200: ReplayStarted },
    },
    config: mending,
    handler: ({ principal, params, body }) =>
      deliveries.replays.start(projects.confine(principal, params.projectIdOrName).projectId, body),
  });
}

function look(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/replays',
    schema: {
      operationId: 'listReplays',
      summary: 'List replays, newest first',
      tags,
      params: ProjectParams,
      querystring: ReplayQuery,
      response: { 200: ReplayPage },
    },
    config: reading,
    handler: ({ principal, params, query }) =>
      deliveries.replays.list(projects.confine(principal, params.projectIdOrName).projectId, query),
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/replays/:replayId',
    schema: {
      operationId: 'getReplay',
      summary: 'Get a replay with its progress',
      tags,
      params: ReplayParams,
      response: { 200: Replay },
    },
    config: reading,
    handler: ({ principal, params }) =>
      deliveries.replays.get(projects.confine(principal, params.projectIdOrName).projectId, params.replayId),
  });
}

function cancel(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/replays/:replayId(^[^:]+)::cancel',
    schema: {
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description:
        'Nothing more is sent: what waits for an attempt is as it was before. What was sent stays sent. Canceling again changes nothing.',
      tags,
      params: ReplayParams,
      response: { 200: Replay },
    },
    config: mending,
    handler: ({ principal, params }) =>
      deliveries.replays.cancel(
        projects.confine(principal, params.projectIdOrName).projectId,
        params.replayId,
      ),
  });
}

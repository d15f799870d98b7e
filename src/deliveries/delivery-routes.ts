import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import { optionalBody } from '../kit/optional-body-schema.ts';
import type { DeliveryRouteDeps } from './destination-routes.ts';
import { Delivery, DeliveryDetail, DeliveryPage, DeliveryQuery, MessageResult } from './schema.ts';

const closed = { additionalProperties: false } as const;
const tags = ['deliveries'];
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const DeliveryParams = Type.Object(
  { ...project, deliveryId: Type.String({ description: 'Delivery id: the `webhook-id`.' }) },
  closed,
);
const RetryDeliveryRequest = optionalBody(Type.Object({}, closed), 'RetryDeliveryRequest');
const url = '/projects/:projectIdOrName/deliveries';

/** What became of messages, and the records of those that only link to them, below `/v1`. */
export function deliveryRoutes(deps: DeliveryRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    list(server, deps);
    one(server, deps);
    retry(server, deps);
    result(server, deps);
  };
}

function list(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listDeliveries',
      summary: 'List deliveries, newest first',
      tags,
      params: Type.Object(project, closed),
      querystring: DeliveryQuery,
      response: { 200: DeliveryPage },
    },
    config: { scopes: ['read'] },
    handler: ({ principal, params, query }) =>
      deliveries.log.list(projects.confine(principal, params.projectIdOrName), query),
  });
}

function one(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'GET',
    url: `${url}/:deliveryId`,
    schema: {
      operationId: 'getDelivery',
      summary: 'Get a delivery with its attempts',
      tags,
      params: DeliveryParams,
      querystring: Type.Object(
        { includeBody: Type.Optional(Type.Boolean({ description: 'Adds the body of the message.' })) },
        closed,
      ),
      response: { 200: DeliveryDetail },
    },
    config: { scopes: ['read'] },
    handler: ({ principal, params, query }) =>
      deliveries.log.get(
        projects.confine(principal, params.projectIdOrName),
        params.deliveryId,
        query.includeBody ?? false,
      ),
  });
}

function retry(server: HttpServer, { deliveries, projects }: DeliveryRouteDeps): void {
  server.route({
    method: 'POST',
    url: `${url}/:deliveryId(^[^:]+)::retry`,
    schema: {
      operationId: 'retryDelivery',
      summary: 'Send a delivery again',
      description:
        'Of one that was delivered or failed for good: it is queued again at once, with the same id and body, and tried as often as a new one.',
      tags,
      params: DeliveryParams,
      body: RetryDeliveryRequest,
      response: { 200: Delivery },
    },
    config: { scopes: ['remediate'] },
    handler: ({ principal, params }) =>
      deliveries.log.retry(projects.confine(principal, params.projectIdOrName), params.deliveryId),
  });
}

function result(server: HttpServer, { deliveries }: DeliveryRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/messages/:messageId/result',
    schema: {
      operationId: 'downloadMessageResult',
      summary: 'Download the records of a message that links to them',
      description:
        'The `downloadUrl` of a message whose only record is too large for it. Good while its delivery goes on, and 15 minutes after.',
      tags,
      params: Type.Object({ messageId: Type.String() }, closed),
      querystring: Type.Object(
        { projectId: Type.String(), secret: Type.String({ minLength: 1, maxLength: 200 }) },
        closed,
      ),
      response: { 200: MessageResult },
    },
    config: { scopes: 'public' },
    handler: async ({ params, query }, reply) => {
      const bytes = await deliveries.log.resultOf({ id: params.messageId, ...query });
      reply.header('cache-control', 'no-store').type('application/json; charset=utf-8');
      // As they were kept: written anew, numbers would lose their digits.
      return reply.send(bytes as never);
    },
  });
}

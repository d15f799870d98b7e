import { Type } from 'typebox';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { listOrPageOf } from '../kit/paging-schema.ts';
import { listOrPage } from '../kit/paging.ts';
import { requireSecrets, type Principal, type Projects } from '../projects/index.ts';
import type { Deliveries } from './deliveries.ts';
import { presentDestination, presentFor } from './present.ts';
import { kinds } from './kinds.ts';
import {
  DeleteDestinationQuery,
  destinationSchemas,
  DestinationsQuery,
  DestinationTest,
  RotateDestinationRequest,
} from './schema.ts';

const { CreateDestinationRequest, Destination, UpdateDestinationRequest } = destinationSchemas(kinds);

const closed = { additionalProperties: false } as const;
const tags = ['destinations'];
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const ProjectParams = Type.Object(project, closed);
const DestinationParams = Type.Object(
  { ...project, destination: Type.String({ description: 'Destination id or name.' }) },
  closed,
);
const collectionUrl = '/projects/:projectIdOrName/destinations';
const url = `${collectionUrl}/:destination`;
const actionUrl = (action: string): string => `${url}(^[^:]+)::${action}`;
const reading = { scopes: ['read' as const], projectWide: true as const };
const changing = { projectWide: true as const };
const mending = { scopes: ['remediate' as const], projectWide: true as const };

export interface DeliveryRouteDeps {
  deliveries: Deliveries;
  projects: Pick<Projects, 'confine'>;
}

/** Where a builder wants things delivered, below `/v1`. */
export function destinationRoutes(deps: DeliveryRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    collection(server, deps);
    one(server, deps);
    change(server, deps);
    rotate(server, deps);
    switches(server, deps);
    test(server, deps);
  };
}

interface Addressed {
  principal: Principal;
  params: { projectIdOrName: string; destination: string };
}

function placeOf({ projects }: DeliveryRouteDeps, { principal, params }: Addressed): [string, string] {
  return [projects.confine(principal, params.projectIdOrName).projectId, params.destination];
}

function collection(server: HttpServer, deps: DeliveryRouteDeps): void {
  const { destinations } = deps.deliveries;
  server.route({
    method: 'POST',
    url: collectionUrl,
    schema: {
      operationId: 'createDestination',
      summary: 'Create a destination',
      description:
        'What a type needs stands in `metadata`, and in `secrets` what nobody may see. The signing key of a webhook is made here unless it is given: `GET …/destinations/{destination}?includeSecrets=true` shows it.',
      tags,
      params: ProjectParams,
      body: CreateDestinationRequest,
      response: { 201: Destination },
    },
    config: changing,
    handler: async ({ principal, params, body }, reply) => {
      const { projectId } = deps.projects.confine(principal, params.projectIdOrName);
      return reply.code(201).send(presentDestination(await destinations.create(projectId, body)));
    },
  });
  server.route({
    method: 'GET',
    url: collectionUrl,
    schema: {
      operationId: 'listDestinations',
      summary: 'List destinations, newest first',
      tags,
      params: ProjectParams,
      querystring: DestinationsQuery,
      response: { 200: listOrPageOf(Destination) },
    },
    config: reading,
    handler: async ({ principal, params, query }, reply) => {
      const { projectId } = deps.projects.confine(principal, params.projectIdOrName);
      const { state, ...page } = query;
      const found = await listOrPage(
        page,
        (slice) => destinations.list(projectId, state === undefined ? slice : { ...slice, state }),
        (rows) => rows.map((row) => presentFor(principal, row)),
      );
      return sendList(reply, found);
    },
  });
}

function one(server: HttpServer, deps: DeliveryRouteDeps): void {
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getDestination',
      summary: 'Get a destination',
      tags,
      params: DestinationParams,
      querystring: Type.Object(
        {
          includeSecrets: Type.Optional(
            Type.Boolean({
              description: 'Adds the secrets, such as the signing key. Scopes `full` and `develop` only.',
            }),
          ),
        },
        closed,
      ),
      response: { 200: Destination },
    },
    config: reading,
    handler: async (request, reply) => {
      const { destinations } = deps.deliveries;
      const { includeSecrets = false } = request.query;
      if (includeSecrets)
        requireSecrets(request.principal, 'Secrets are shown only to the scopes full and develop.');
      const row = await destinations.get(...placeOf(deps, request));
      if (!includeSecrets) return presentFor(request.principal, row);
      reply.header('cache-control', 'no-store');
      return presentDestination(row, await destinations.disclose(row));
    },
  });
}

function change(server: HttpServer, deps: DeliveryRouteDeps): void {
  const { destinations } = deps.deliveries;
  server.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateDestination',
      summary: 'Change a destination',
      description:
        'The masks are `name`, `metadata.<member>` and `secrets.<member>`; null takes a member away. What waits is sent as the destination is then. The type never changes.',
      tags,
      params: DestinationParams,
      body: UpdateDestinationRequest,
      response: { 200: Destination },
    },
    config: changing,
    handler: async (request) =>
      presentDestination(await destinations.update(...placeOf(deps, request), request.body)),
  });
  server.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'deleteDestination',
      summary: 'Delete a destination',
      description:
        'Refused while deliveries wait for it, unless `cancelPending`: then they are canceled, those that had ended before and wait again are as they were, and the audit log says how many.',
      tags,
      params: DestinationParams,
      querystring: DeleteDestinationQuery,
      response: { 204: Type.Null() },
    },
    config: changing,
    handler: async (request, reply) => {
      await destinations.delete(...placeOf(deps, request), request.query);
      return reply.code(204).send(null);
    },
  });
}

function rotate(server: HttpServer, deps: DeliveryRouteDeps): void {
  server.route({
    method: 'POST',
    url: actionUrl('rotate'),
    schema: {
      operationId: 'rotateDestinationSecrets',
      summary: 'Make new secrets for a destination',
      description:
        'Answers with the new signing key. For the hours of `overlapHours` messages are signed with the key of before, too, so that receivers may change theirs meanwhile; so they are with those of earlier rotations whose time is not over. The answer comes after two seconds, when every node signs with the new key: a receiver may verify with it alone at once. With `overlapHours` 0 all former keys end.',
      tags,
      params: DestinationParams,
      body: RotateDestinationRequest,
      response: { 200: Destination },
    },
    config: changing,
    handler: async (request, reply) => {
      const overlapMs = (request.body?.overlapHours ?? 24) * 3_600_000;
      const { row, secrets } = await deps.deliveries.destinations.rotate(
        ...placeOf(deps, request),
        overlapMs,
      );
      reply.header('cache-control', 'no-store');
      return presentDestination(row, secrets);
    },
  });
}

function switches(server: HttpServer, deps: DeliveryRouteDeps): void {
  const { destinations } = deps.deliveries;
  server.route({
    method: 'POST',
    url: actionUrl('enable'),
    schema: {
      operationId: 'enableDestination',
      summary: 'Enable a destination',
      description: 'What waited meanwhile is delivered.',
      tags,
      params: DestinationParams,
      response: { 200: Destination },
    },
    config: mending,
    handler: async (request) =>
      presentFor(request.principal, await destinations.enable(...placeOf(deps, request))),
  });
  server.route({
    method: 'POST',
    url: actionUrl('disable'),
    schema: {
      operationId: 'disableDestination',
      summary: 'Disable a destination',
      description:
        'What is to be delivered there waits until it is enabled; what waits for longer than messages are kept (`SVC_MESSAGE_KEEP_DAYS`) is dropped.',
      tags,
      params: DestinationParams,
      response: { 200: Destination },
    },
    config: mending,
    handler: async (request) =>
      presentFor(request.principal, await destinations.disable(...placeOf(deps, request))),
  });
}

function test(server: HttpServer, deps: DeliveryRouteDeps): void {
  server.route({
    method: 'POST',
    url: actionUrl('test'),
    schema: {
      operationId: 'testDestination',
      summary: 'Send a message to try a destination',
      description:
        'Sends one message with `action: "test"` and no records, once, now, also to a disabled destination, and answers what became of it.',
      tags,
      params: DestinationParams,
      response: { 200: DestinationTest },
    },
    config: mending,
    handler: (request) => deps.deliveries.test(...placeOf(deps, request)),
  });
}

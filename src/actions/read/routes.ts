import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import { actorHook } from '../../projects/index.ts';
import { pauseReads, unpauseReads } from './pause.ts';
import type { ReadDeps } from './prepare.ts';
import { previewRead } from './preview.ts';
import { projectReads } from './project-reads.ts';
import { requestRead } from './request.ts';
import {
  BackfillProgress,
  PauseRequest,
  ProjectReadQuery,
  ProjectReadStatePage,
  ReadAccepted,
  ReadPreview,
  ReadPreviewRequest,
  ReadRequest,
  ReadState,
  SearchRequest,
  SearchResult,
} from './schema.ts';
import { searchRecords } from './search.ts';
import { backfillProgress, readStates } from './state.ts';

const closed = { additionalProperties: false } as const;
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const integration = {
  ...project,
  integrationId: Type.String({ description: 'Integration id or name.' }),
};
const installation = { ...integration, installationId: Type.String({ description: 'Installation id.' }) };
const objectName = Type.String({ description: "The provider's or the builder's name of the object." });
const at = '/projects/:projectIdOrName/integrations/:integrationId';
const tags = ['read'];

/** `{read_url}`: reads on demand, and the pausing of those that come by themselves. */
export function readRoutes(deps: ReadDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.addHook('preHandler', actorHook);
    server.route({
      method: 'POST',
      url: `${at}/objects/:objectName`,
      schema: {
        operationId: 'readRecords',
        summary: 'Read the records of an object into its destination',
        description:
          'With a range of its own: the watermark of the schedule stays where it is. The operation is a success when every page is durable for delivery.',
        tags,
        params: Type.Object({ ...integration, objectName }, closed),
        body: ReadRequest,
        response: { 201: ReadAccepted },
      },
      config: { scopes: ['read', 'remediate'] },
      handler: async (request, reply) => {
        const { principal, params, body } = request;
        const { operationId, target } = await requestRead(deps, principal, params, body);
        const { groupRef, connectionId, installationId } = target;
        request.about = { groupRef, connectionId, installationId, operationId, object: params.objectName };
        return reply.code(201).send({ operationId });
      },
    });
    pauseRoutes(server, deps);
  };
}

function pauseRoutes(server: HttpServer, deps: ReadDeps): void {
  const verbs = {
    pause: {
      run: pauseReads,
      summary: 'Pause the reads of an installation',
      description:
        'No scheduled read begins, and what is under way, a backfill included, stands where it is. Reads on demand go on. It is no fault when it is so already.',
    },
    unpause: {
      run: unpauseReads,
      summary: 'Let the reads of an installation go on',
      description:
        'What was under way goes on at its page. The next tick of the schedule reads everything that changed meanwhile. It is no fault when nothing is paused.',
    },
  } as const;
  for (const [verb, { run, summary, description }] of Object.entries(verbs)) {
    server.route({
      method: 'POST',
      url: `${at}/installations/:installationId(^[^:]+)::${verb}`,
      schema: {
        operationId: `${verb}Reads`,
        summary,
        description,
        tags,
        params: Type.Object(installation, closed),
        body: PauseRequest,
        response: { 204: Type.Null() },
      },
      config: { scopes: ['read', 'remediate'] },
      handler: async ({ principal, params, body }, reply) => {
        await run(deps, principal, params, body ?? {});
        return reply.code(204).send(null);
      },
    });
  }
}

/** What is known of reads, below `/v1`. */
export function readStateRoutes(deps: ReadDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    projectRoute(server, deps);
    server.route({
      method: 'GET',
      url: `${at}/installations/:installationId/reads`,
      schema: {
        operationId: 'listReads',
        summary: 'List how the objects of an installation are read',
        tags,
        params: Type.Object(installation, closed),
        response: { 200: Type.Array(ReadState) },
      },
      config: { scopes: ['read', 'frontend'] },
      handler: ({ principal, params }) => readStates(deps, principal, params),
    });
    server.route({
      method: 'GET',
      url: `${at}/installations/:installationId/objects/:objectName/backfill-progress`,
      schema: {
        operationId: 'getBackfillProgress',
        summary: 'Get how far the history of an object is read',
        tags,
        params: Type.Object({ ...installation, objectName }, closed),
        response: { 200: BackfillProgress },
      },
      config: { scopes: ['read', 'frontend'] },
      handler: ({ principal, params }) => backfillProgress(deps, principal, params),
    });
    server.route({
      method: 'POST',
      url: `${at}/objects/:objectName/read-preview`,
      schema: {
        operationId: 'previewRead',
        summary: 'Show one record as a config would have it delivered',
        description:
          'Reads one record of the customer’s account by a config that is not saved. Nothing is delivered, and no schedule moves. A key with the scope `frontend` alone has to be confined to a group. The audit log has `connection.sampled`.',
        tags,
        params: Type.Object({ ...integration, objectName }, closed),
        body: ReadPreviewRequest,
        response: { 200: ReadPreview },
      },
      config: { scopes: ['read', 'frontend'] },
      handler: async ({ principal, params, body }, reply) => {
        reply.header('cache-control', 'no-store');
        return previewRead(deps, principal, params, body);
      },
    });
  };
}

function projectRoute(server: HttpServer, deps: ReadDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/reads',
    schema: {
      operationId: 'listReadsForProject',
      summary: 'List how the objects of all installations are read',
      description:
        'By installation, the oldest first, and by object. A change of a config shows within about two seconds, and later behind a deploy to many installations: they are followed in the order of their changes. What is asked for may be rare: a page looks at 5,000 reads at the most, and is short or empty then; it is the last when `pagination.done` is true.',
      tags,
      params: Type.Object(project, closed),
      querystring: ProjectReadQuery,
      response: { 200: ProjectReadStatePage },
    },
    config: { scopes: ['read'] },
    handler: ({ principal, params, query }) =>
      projectReads(deps, deps.projects.confine(principal, params.projectIdOrName), query),
  });
}

/** `{search_url}`: records by their values, at once. */
export function searchRoutes(deps: ReadDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.addHook('preHandler', actorHook);
    server.route({
      method: 'POST',
      url: at,
      schema: {
        operationId: 'searchRecords',
        summary: 'Find records by the values of their fields',
        description:
          'Answers the first page of the provider with records that pass all filters. Filters that the provider is not asked for (HubSpot takes three, and none for objects without a time of change) are applied to its first three pages at the most; `hasMore` says that more may come behind what was looked at.',
        tags,
        params: Type.Object(integration, closed),
        querystring: Type.Object(
          {
            groupRef: Type.String({
              minLength: 1,
              maxLength: 255,
              description: 'The group whose records are searched.',
            }),
          },
          closed,
        ),
        body: SearchRequest,
        response: { 200: SearchResult },
      },
      config: { scopes: ['read'] },
      handler: ({ principal, params, query, body }) =>
        searchRecords(deps, principal, { ...params, groupRef: query.groupRef }, body),
    });
  };
}

import { Type } from 'typebox';
import type { Installations } from '../installations/index.ts';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { pageQuery } from '../kit/paging-schema.ts';
import type { Projects } from '../projects/index.ts';
import type { Operations } from './operations.ts';
import {
  Operation,
  OperationExchangePage,
  OperationLog,
  OperationPage,
  OperationQuery,
  OperationRecordPage,
  ResolvedRecords,
  ResolveRequest,
  WrittenRecord,
} from './schema.ts';

const closed = { additionalProperties: false } as const;
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const operation = Type.Object(
  { ...project, operationId: Type.String({ description: 'Operation id.' }) },
  closed,
);
const page = Type.Object(pageQuery, closed);
const tags = ['operations'];
/** The column that holds the place of a record takes no more. */
const mostSlots = 2_147_483_647;
const reading = { scopes: ['read', 'write'] } as const;

export interface OperationRouteDeps {
  operations: Operations;
  projects: Pick<Projects, 'confine'>;
  installations: Pick<Installations, 'get'>;
}

/** Status, logs and per-record outcomes of operations, below `/v1`. */
export function operationRoutes(
  operations: Operations,
  doors: Omit<OperationRouteDeps, 'operations'>,
): (server: HttpServer) => Promise<void> {
  const deps = { operations, ...doors };
  return async (server) => {
    listAllRoute(server, deps);
    listRoute(server, deps);
    oneRoute(server, deps);
    detailRoutes(server, deps);
    recordRoute(server, deps);
    resolveRoute(server, deps);
  };
}

function listAllRoute(server: HttpServer, { operations, projects }: OperationRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations',
    schema: {
      operationId: 'listOperationsForProject',
      summary: 'List the operations of a project, newest first',
      description:
        'Across installations. What is asked for may be rare: a page looks at 2,000 operations at the most, and is short or empty then; it is the last when `pagination.done` is true. Those that are under way come in the order of their queue.',
      tags,
      params: Type.Object(project, closed),
      querystring: OperationQuery,
      response: { 200: OperationPage },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params, query }) =>
      operations.listAll(projects.confine(principal, params.projectIdOrName), query),
  });
}

function listRoute(server: HttpServer, deps: OperationRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/integrations/:integrationId/installations/:installationId/operations',
    schema: {
      operationId: 'listOperations',
      summary: 'List the operations of an installation, newest first',
      tags,
      params: Type.Object(
        {
          ...project,
          integrationId: Type.String({ description: 'Integration id or name.' }),
          installationId: Type.String({ description: 'Installation id.' }),
        },
        closed,
      ),
      querystring: page,
      response: { 200: OperationPage },
    },
    config: { scopes: [...reading.scopes] },
    handler: async ({ principal, params, query }) => {
      const { projectId } = deps.projects.confine(principal, params.projectIdOrName);
      const installation = await deps.installations.get(principal, params, params.installationId);
      return deps.operations.list(projectId, installation.id, query);
    },
  });
}

function oneRoute(server: HttpServer, deps: OperationRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations/:operationId',
    schema: {
      operationId: 'getOperation',
      summary: 'Get an operation',
      tags,
      params: operation,
      response: { 200: Operation },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params }) =>
      deps.operations.get(deps.projects.confine(principal, params.projectIdOrName), params.operationId),
  });
}

function detailRoutes(server: HttpServer, deps: OperationRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations/:operationId/logs',
    schema: {
      operationId: 'listOperationLogs',
      summary: 'List what happened in an operation',
      tags,
      params: operation,
      response: { 200: Type.Array(OperationLog) },
    },
    config: { scopes: [...reading.scopes] },
    handler: async ({ principal, params }, reply) => {
      const reach = deps.projects.confine(principal, params.projectIdOrName);
      return sendList(reply, await deps.operations.logs(reach, params.operationId));
    },
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations/:operationId/exchanges',
    schema: {
      operationId: 'listOperationExchanges',
      summary: 'List what was sent to the provider for an operation, and what it answered, oldest first',
      description:
        'Each request of a write or a read, without the credential, and each answer. They appear within a second and are kept for a week (`SVC_EXCHANGE_KEEP_DAYS`). A node that dies takes the last of them along.',
      tags,
      params: operation,
      querystring: page,
      response: { 200: OperationExchangePage },
    },
    config: { scopes: ['read'] },
    handler: ({ principal, params, query }) =>
      deps.operations.exchanges(
        deps.projects.confine(principal, params.projectIdOrName),
        params.operationId,
        query,
      ),
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations/:operationId/records',
    schema: {
      operationId: 'listOperationRecords',
      summary: 'List the outcomes of the records of an operation, in the order of the request',
      tags,
      params: operation,
      querystring: page,
      response: { 200: OperationRecordPage },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params, query }) =>
      deps.operations.records(
        deps.projects.confine(principal, params.projectIdOrName),
        params.operationId,
        query,
      ),
  });
}

function recordRoute(server: HttpServer, { operations, projects }: OperationRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/operations/:operationId/records/:index',
    schema: {
      operationId: 'getOperationRecord',
      summary: 'Get a record of an operation with what was asked to be written',
      tags,
      params: Type.Object(
        {
          ...operation.properties,
          index: Type.Integer({
            minimum: 0,
            maximum: mostSlots,
            description: "The record's place in the request, from 0.",
          }),
        },
        closed,
      ),
      response: { 200: WrittenRecord },
    },
    config: { scopes: ['read'] },
    handler: ({ principal, params }) =>
      operations.record(
        projects.confine(principal, params.projectIdOrName),
        params.operationId,
        params.index,
      ),
  });
}

function resolveRoute(server: HttpServer, deps: OperationRouteDeps): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/operations/:operationId(^[^:]+)::resolve',
    schema: {
      operationId: 'resolveOperation',
      summary: 'Tell what became of records of unknown outcome',
      description:
        'For records whose answer from the provider was lost: of those named in `records`, or with `resolution` of all. Recorded with who said it and when; the status and the counts of the operation stay.',
      tags,
      params: operation,
      body: ResolveRequest,
      response: { 200: ResolvedRecords },
    },
    config: { scopes: ['write', 'remediate'] },
    handler: async ({ principal, params, body }) => {
      const reach = deps.projects.confine(principal, params.projectIdOrName);
      const by = `${principal.kind}:${principal.keyId}`;
      return { records: await deps.operations.resolve(reach, params.operationId, by, body) };
    },
  });
}

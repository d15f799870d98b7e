import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import type { Projects } from '../projects/index.ts';
import type { Retention } from './retention.ts';
import { Erasure, ErasureRequest, Storage } from './schema.ts';

const closed = { additionalProperties: false } as const;
const tags = ['projects'];
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const ProjectParams = Type.Object(project, closed);

export interface RetentionRouteDeps {
  retention: Retention;
  projects: Pick<Projects, 'confine' | 'get'>;
}

/** What a project holds, and its removal, below `/v1`. */
export function retentionRoutes(deps: RetentionRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    storage(server, deps);
    erasures(server, deps);
  };
}

function storage(server: HttpServer, { retention, projects }: RetentionRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/storage',
    schema: {
      operationId: 'getStorage',
      summary: 'Get what a project holds, by kind',
      tags,
      params: ProjectParams,
      response: { 200: Storage },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async ({ principal, params }) => {
      const { projectId } = projects.confine(principal, params.projectIdOrName);
      return retention.storageOf(projectId, (await projects.get(projectId)).keepDays);
    },
  });
}

function erasures(server: HttpServer, { retention, projects }: RetentionRouteDeps): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/erasures',
    schema: {
      operationId: 'createErasure',
      summary: 'Erase what was kept of a group or of the project',
      description:
        'Operations with their records and logs, exchanges with providers, messages with their deliveries, what is remembered of associations that were read, events, lines of the proxy log and connect links that were made until now are removed by a worker, and the names of groups and people without a connection. Messages that wait are sent no more. Connections, installations and the audit log stay.',
      tags,
      params: ProjectParams,
      body: ErasureRequest,
      response: { 202: Erasure },
    },
    config: { projectWide: true },
    handler: async ({ principal, params, body }, reply) => {
      const { projectId } = projects.confine(principal, params.projectIdOrName);
      return reply.code(202).send(await retention.erasures.start(projectId, body));
    },
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/erasures/:erasureId',
    schema: {
      operationId: 'getErasure',
      summary: 'Get an erasure with what it removed',
      tags,
      params: Type.Object({ ...project, erasureId: Type.String({ description: 'Erasure id.' }) }, closed),
      response: { 200: Erasure },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: ({ principal, params }) =>
      retention.erasures.get(projects.confine(principal, params.projectIdOrName).projectId, params.erasureId),
  });
}

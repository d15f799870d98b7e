import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import type { Projects } from '../projects/index.ts';
import type { Retention } from './retention.ts';
import { Storage } from './schema.ts';

const closed = { additionalProperties: false } as const;
const ProjectParams = Type.Object(
  { projectIdOrName: Type.String({ description: 'Project id or name.' }) },
  closed,
);

export interface RetentionRouteDeps {
  retention: Retention;
  projects: Pick<Projects, 'confine'>;
}

/** What a project holds, below `/v1`. */
export function retentionRoutes({
  retention,
  projects,
}: RetentionRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/storage',
      schema: {
        operationId: 'getStorage',
        summary: 'Get what a project holds, by kind',
        tags: ['projects'],
        params: ProjectParams,
        response: { 200: Storage },
      },
      config: { scopes: ['read'], projectWide: true },
      handler: ({ principal, params }) =>
        retention.storageOf(projects.confine(principal, params.projectIdOrName).projectId),
    });
  };
}

import { assertReaches } from '../../events/index.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { ProjectParams } from '../path-params.ts';
import type { Projects } from '../projects.ts';
import { FrontendToken, FrontendTokenRequest } from './schema.ts';

/** Tokens for builders whose servers do not sign JWTs. */
export function frontendTokenRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/frontend-tokens',
      schema: {
        operationId: 'createFrontendToken',
        summary: 'Make a front-end token for a person',
        description:
          'For a server that does not sign JWTs itself: it asks for one when its page does, for the person who is signed in there. The token reaches what scope `frontend` does, of that group, and ends early when the API key that asked for it is deactivated or deleted.',
        tags: ['jwt keys'],
        params: ProjectParams,
        body: FrontendTokenRequest,
        response: { 201: FrontendToken },
      },
      config: { scopes: [] },
      handler: async (request, reply) => {
        const reach = projects.confine(request.principal, request.params.projectIdOrName);
        assertReaches(reach, request.body.groupRef);
        const made = await projects.makeFrontendToken(request.principal, request.body);
        return reply.code(201).header('cache-control', 'no-store').send(made);
      },
    });
  };
}

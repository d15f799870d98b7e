import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { Reach } from '../reach.ts';
import { Changes } from './schema.ts';
import type { Streams } from './streams.ts';

export interface StreamDeps {
  streams: Streams;
  projects: { confine(principal: FastifyRequest['principal'], idOrName: string): Reach };
  /** Lets the caller of the request in again, whom no limit counts any more, or throws. */
  readmit(request: FastifyRequest): Promise<void>;
}

/** What changes in a project, as it happens, below `/v1`. */
export function streamRoutes(deps: StreamDeps): (server: HttpServer) => Promise<void> {
  const { streams, projects } = deps;
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/stream',
      // A connection of its own for each HEAD would be held open in vain.
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamChanges',
        summary: 'Follow what changes in a project',
        description:
          'Server-sent events, at most four a second. Each event `change` names what changed, and no more of it than its id and status; `resync` asks to look at everything again, as after a gap. With `Last-Event-ID` a stream goes on where it broke off, at any node, within a minute. What changed before it was open it does not tell: read that again once it is. It ends with the credentials, or when the node stops: connect again.',
        tags: ['projects'],
        params: Type.Object({ projectIdOrName: Type.String({ description: 'Project id or name.' }) }),
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({ maxLength: 100, description: 'The `id` of the last event that was seen.' }),
          ),
        }),
        response: {
          200: {
            description: 'The stream.',
            content: { 'text/event-stream': { schema: Type.Unsafe<Readable>(Changes) } },
          },
        },
      },
      config: { scopes: ['read'], unattended: true },
      handler: async (request, reply) => {
        const { projectIdOrName } = request.params;
        const confined = (): Reach => projects.confine(request.principal, projectIdOrName);
        const reach = confined();
        const { kind, keyId, consumerRef = '' } = request.principal;
        const stream = streams.open({
          reach,
          caller: [kind, keyId, consumerRef].join(' '),
          lastId: request.headers['last-event-id'],
          async recheck() {
            await deps.readmit(request);
            return confined();
          },
        });
        void reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
        return stream;
      },
    });
  };
}

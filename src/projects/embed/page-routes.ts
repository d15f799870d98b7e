import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { Logger } from '../../kit/log.ts';
import { problem } from '../../kit/problem.ts';
import type { Projects } from '../projects.ts';
import { connectPath } from './connect-links.ts';
import { createPageFiles, type PageFile } from './page-files.ts';

/** The page that connect links lead to, and its files; mounted without a prefix, open to everybody. It holds nothing of any project. */
export function connectPageRoutes(
  projects: Pick<Projects, 'originsOf'>,
  log: Logger,
): (server: HttpServer) => Promise<void> {
  const files = createPageFiles(log);
  return async (server) => {
    server.route({
      method: 'GET',
      url: `${connectPath}/:projectId`,
      schema: { hide: true, params: Type.Object({ projectId: Type.String() }) },
      config: { scopes: 'public' },
      handler: async (request, reply) => {
        const origins = await projects.originsOf(request.params.projectId);
        const file = await files.get('index.html');
        reply.header('content-security-policy', policyFor(origins)).header('referrer-policy', 'no-referrer');
        return send(request, reply, file, 'no-cache');
      },
    });
    server.route({
      method: 'GET',
      url: `${connectPath}/assets/:file`,
      schema: { hide: true, params: Type.Object({ file: Type.String() }) },
      config: { scopes: 'public' },
      // The name of a file changes with what is in it.
      handler: async (request, reply) =>
        send(
          request,
          reply,
          await files.get(`assets/${request.params.file}`),
          'public, max-age=31536000, immutable',
        ),
    });
  };
}

/** Scripts and styles of our own files only; framed by pages of the project. */
function policyFor(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src https: data:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors 'self' ${origins.join(' ')}`.trim(),
  ].join('; ');
}

function send(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: PageFile | undefined,
  caching: string,
): FastifyReply {
  if (!file) throw problem('not-found', { detail: 'There is no such file of the page.' });
  const isGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  reply.header('content-type', file.type).header('cache-control', caching).header('vary', 'accept-encoding');
  if (isGzip) reply.header('content-encoding', 'gzip');
  return reply.send(isGzip ? file.gzipped : file.bytes);
}

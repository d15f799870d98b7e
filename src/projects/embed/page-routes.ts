import { Type } from 'typebox';
import { createPageFiles } from '../../kit/http/built-pages.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { isId } from '../../kit/ids.ts';
import type { Logger } from '../../kit/log.ts';
import type { Projects } from '../projects.ts';
import { connectPath } from './connect-links.ts';

/** The page that connect links lead to, and its files; mounted without a prefix, open to everybody. It holds nothing of any project. */
export function connectPageRoutes(
  projects: Pick<Projects, 'originsOf'>,
  log: Logger,
): (server: HttpServer) => Promise<void> {
  const files = createPageFiles(
    {
      name: 'connect',
      title: 'the page of connect links',
      folder: 'ui/embed/dist/page',
      sources: ['ui/embed/src', 'ui/client/src'],
    },
    log,
  );
  return async (server) => {
    server.route({
      method: 'GET',
      url: `${connectPath}/:projectId`,
      schema: { hide: true, params: Type.Object({ projectId: Type.String() }) },
      config: { scopes: 'public' },
      handler: async (request, reply) => {
        // By its id alone, which nobody guesses: by its name a stranger would learn that it is there, and its origins.
        const { projectId } = request.params;
        const origins = await projects.originsOf(isId(projectId) ? projectId : '');
        reply.header('content-security-policy', policyFor(origins)).header('referrer-policy', 'no-referrer');
        return files.send(request, reply, 'index.html');
      },
    });
    server.route({
      method: 'GET',
      url: `${connectPath}/assets/:file`,
      schema: { hide: true, params: Type.Object({ file: Type.String() }) },
      config: { scopes: 'public' },
      handler: async (request, reply) => files.send(request, reply, `assets/${request.params.file}`),
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

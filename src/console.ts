import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createPageFiles, type PageFiles } from './kit/http/built-pages.ts';
import type { HttpServer, UnknownPath } from './kit/http/server.ts';
import type { Logger } from './kit/log.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' https: data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A page that opened this one, or is opened by it, gets no hold of it; and of a browser it needs none of what is named. */
const pageHeaders = {
  'content-security-policy': policy,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** The first words of the console's own paths (`ui/console/src/routes.tsx`); below any other it says that nothing is there. */
const ownPaths = new Set(['account', 'invitation', 'projects', 'reset', 'sign-in', 'welcome']);

/** The console in the browser: at `/`, at its own paths, and wherever a browser looks for a page that there is not. */
export interface Console {
  routes: (server: HttpServer) => Promise<void>;
  unknownPath: UnknownPath;
}

export function createConsole(log: Logger): Console {
  const files = createPageFiles(
    {
      name: 'console',
      title: 'the console',
      folder: 'ui/console/dist',
      sources: ['ui/console/src', 'ui/client/src', 'ui/embed/src/tokens.css'],
    },
    log,
  );
  return {
    routes: async (server) => {
      const isPublic = { config: { scopes: 'public' as const } };
      server.get('/', { ...isPublic, schema: { hide: true } }, (request, reply) =>
        page(files, request, reply),
      );
      const params = Type.Object({ file: Type.String() });
      server.get('/assets/:file', { ...isPublic, schema: { hide: true, params } }, (request, reply) =>
        files.send(request, reply, `assets/${request.params.file}`),
      );
    },
    unknownPath: {
      isTaken: ({ method, headers }) =>
        ['GET', 'HEAD'].includes(method) && (headers.accept ?? '').includes('text/html'),
      answer: (request, reply) => {
        const [, first = ''] = request.url.split(/[/?]/);
        return page(files, request, reply.code(ownPaths.has(first) ? 200 : 404));
      },
    },
  };
}

function page(files: PageFiles, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return files.send(request, reply.headers(pageHeaders), 'index.html');
}

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import { policyOf } from './docs-policy.ts';
import type { HttpServer } from './kit/http/server.ts';

/** What `npm run docs:build` writes. */
const built = fileURLToPath(new URL('../dist/docs', import.meta.url));
const index = fileURLToPath(new URL('../docs/llms.txt', import.meta.url));

const isPublic = { config: { scopes: 'public' as const }, schema: { hide: true } };

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>svc: documents</title></head>
<body><h1>The pages are not built here</h1>
<p>In the folder of svc, <code>npm run docs:build</code> builds them; the next start serves them.</p>
<p><a href="/docs/api">API reference</a></p></body>
</html>
`;

/** The pages of docs/ at `/docs`, where they were built, and the list of them for those who read text. */
export function docsRoutes(folder = built): (server: HttpServer) => Promise<void> {
  return async (server) => {
    const list = existsSync(index) ? readFileSync(index, 'utf8') : '';
    server.get('/llms.txt', isPublic, (_, reply) => reply.type('text/plain; charset=utf-8').send(list));
    const home = join(folder, 'index.html');
    if (!existsSync(home)) {
      const policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";
      for (const path of ['/docs', '/docs/'])
        server.get(path, isPublic, (_, reply) =>
          reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(notBuilt),
        );
      return;
    }
    const policy = policyOf(readFileSync(home, 'utf8'));
    server.get('/docs', isPublic, (_, reply) => reply.redirect('/docs/'));
    await server.register(fastifyStatic, {
      root: folder,
      prefix: '/docs/',
      schemaHide: true,
      cacheControl: false,
      setHeaders: (reply, path) => {
        reply.header('content-security-policy', policy);
        // The names of these change with what is in them.
        const isHashed = path.includes('/assets/');
        reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  };
}

import { statement } from './kit/db/statement.ts';
import type { HttpServer } from './kit/http/server.ts';
import { problem } from './kit/problem.ts';
import type { App } from './app.ts';

/** The state of the process as its surroundings see it. */
export interface Health {
  /** Set when the process was told to stop: not ready, and no new request is taken. */
  isStopping: boolean;
}

const ping = statement('health-ping', 'SELECT 1');

/** `/healthz`: the process runs. `/readyz`: it can serve. `/metrics`: Prometheus, behind a key unless made public. */
export function healthRoutes(deps: {
  app: App;
  health: Health;
  metricsPublic: boolean;
}): (server: HttpServer) => Promise<void> {
  const { app, health } = deps;
  return async (server) => {
    server.get('/healthz', { config: { scopes: 'public' }, schema: { hide: true } }, async () => ({
      status: 'ok',
    }));
    server.get('/readyz', { config: { scopes: 'public' }, schema: { hide: true } }, async () => {
      if (health.isStopping) throw problem('shutting-down');
      await app.ground.database.rows(ping);
      return { status: 'ready' };
    });
    server.get(
      '/metrics',
      { config: { scopes: deps.metricsPublic ? 'public' : ['metrics'] }, schema: { hide: true } },
      async (request, reply) => {
        if (!deps.metricsPublic) {
          const principal = await app.projects.authenticate(request.headers, {
            surface: 'management',
            address: () => request.ip,
          });
          app.projects.authorize(principal, ['metrics']);
        }
        return reply
          .type(app.ground.metrics.registry.contentType)
          .send(await app.ground.metrics.registry.metrics());
      },
    );
  };
}

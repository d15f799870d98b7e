import { Type } from 'typebox';
import { createHash } from 'node:crypto';
import { isDatabaseAway } from './kit/db/faults.ts';
import { drained } from './kit/http/draining.ts';
import { createHttpServer, type HttpServer } from './kit/http/server.ts';
import { problem } from './kit/problem.ts';
import type { App } from './app.ts';
import type { Config } from './config.ts';
import { backlogByConnection } from './gauges.ts';
import { assertReady } from './kit/db/readiness.ts';
import { listening } from './taken-port.ts';

/** The state of the process as its health routes report it. */
export interface Health {
  /** Set when the process was told to stop: not ready, and every answer closes its connection. */
  isStopping: boolean;
  /** Set when that was a signal: no other process takes its place. */
  isToldToEnd?: boolean;
}

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
      await inTime(assertReady(app.ground.database));
      return { status: 'ready' };
    });
    server.route({
      method: 'GET',
      url: '/metrics',
      config: { scopes: deps.metricsPublic ? 'public' : ['metrics'] },
      schema: {
        hide: true,
        querystring: Type.Object(
          { by: Type.Optional(Type.Literal('connection')) },
          { additionalProperties: false },
        ),
      },
      handler: async (request, reply) => {
        if (!deps.metricsPublic) await authorizeMetrics(app, request);
        const { registry } = app.ground.metrics;
        reply.type(registry.contentType);
        return request.query.by ? backlogByConnection(app) : registry.metrics();
      },
    });
  };
}

/** Shorter than most who ask are patient. */
const readyWithinMs = 2_000;

async function inTime(look: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const detail = `The database did not answer within ${readyWithinMs / 1_000} seconds.`;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(problem('database-unavailable', { detail })), readyWithinMs);
  });
  try {
    await Promise.race([look, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Headers = Record<string, string | string[] | undefined>;

/** By digest, the credentials that were good for the metrics. */
const scrapers = new Set<string>();
const mostScrapers = 100;

/** While the database is away, who was let in before is let in: that is when an operator needs the metrics most. */
async function authorizeMetrics(
  { projects }: App,
  { headers, address }: { headers: Headers; address: string },
): Promise<void> {
  const scraper = createHash('sha256')
    .update(JSON.stringify([headers['x-api-key'], headers['authorization']]))
    .digest('base64');
  try {
    const principal = await projects.authenticate(headers, { surface: 'management', address: () => address });
    projects.authorize(principal, ['metrics']);
  } catch (error) {
    if (isDatabaseAway(error) && scrapers.has(scraper)) return;
    scrapers.delete(scraper);
    throw error;
  }
  if (scrapers.size < mostScrapers) scrapers.add(scraper);
}

/** A listener for the health routes alone. */
export interface HealthListener {
  url: string;
  close(): Promise<void>;
}

/** The default port of a process without a management surface. */
const workerPort = 4002;

/** Listens at SVC_HEALTH_PORT; without it only if `isAlone`, and then at a free port rather than not at all. */
export async function listenForHealth(
  app: App,
  config: Config,
  health: Health,
  isAlone: boolean,
): Promise<HealthListener | undefined> {
  if (config.healthPort === undefined && !isAlone) return undefined;
  const listenAt = async (port: number): Promise<HealthListener> => {
    const server = createHttpServer({
      log: app.ground.log,
      bodyLimitBytes: 1024,
      trustedProxies: config.trustedProxies,
    });
    await server.register(healthRoutes({ app, health, metricsPublic: config.metricsPublic }));
    const url = await server.listen({ host: config.host, port });
    const close = async (): Promise<void> => {
      await drained(server.server);
      await server.close();
    };
    return { url, close };
  };
  return atHealthPort(config, listenAt);
}

/** At SVC_HEALTH_PORT; without it at the default port, or at a free one where that is taken. */
export function atHealthPort<Result>(
  { healthPort }: Pick<Config, 'healthPort'>,
  listenAt: (port: number) => Promise<Result>,
): Promise<Result> {
  if (healthPort !== undefined) return listening('SVC_HEALTH_PORT', healthPort, () => listenAt(healthPort));
  return listenAt(workerPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return listenAt(0);
  });
}

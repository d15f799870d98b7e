import type { AddressInfo } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { retentionRoutes } from './retention/index.ts';
import { transferRoutes } from './transfer/index.ts';
import { createProxyServer, proxyLogRoutes } from './actions/proxy/index.ts';
import { readRoutes, readStateRoutes, searchRoutes, type ReadDeps } from './actions/read/index.ts';
import {
  cancelManyRoutes,
  retryManyRoutes,
  retryRoutes,
  writePreviewRoutes,
  writeRoutes,
} from './actions/write/index.ts';
import { callbackRoutes, connectionRoutes } from './connections/index.ts';
import { deliveryRoutes, destinationRoutes, notificationRoutes, replayRoutes } from './deliveries/index.ts';
import { installationRoutes } from './installations/index.ts';
import { auditRoutes, eventRoutes, streamRoutes } from './events/index.ts';
import { drained } from './kit/http/draining.ts';
import { documentApi } from './kit/http/openapi.ts';
import { createHttpServer, type HttpServer } from './kit/http/server.ts';
import { traceRequests } from './kit/http/traced-requests.ts';
import { sleep } from './kit/retry.ts';
import { isTracing, type Attributes } from './kit/trace.ts';
import { peopleRoutes, signInElsewhereRoutes } from './people/index.ts';
import { operationRoutes } from './operations/index.ts';
import { overviewRoutes } from './overview/index.ts';
import {
  actorHook,
  authenticationHook,
  connectPageRoutes,
  projectRoutes,
  providerCatalogueRoutes,
  reachingScopes,
  readmissionHook,
  readmitCaller,
} from './projects/index.ts';
import type { Principal, RouteScopes } from './projects/index.ts';
import type { Scope } from './projects/schema.ts';
import { apiExamples, apiTags } from './api-description.ts';
import { readDepsOf, type App } from './app.ts';
import { hostInUrl, type Config } from './config.ts';
import { createConsole } from './console.ts';
import { docsRoutes } from './docs-site.ts';
import { healthRoutes, type Health } from './health.ts';
import { remedyOfUnknownPath } from './misdirected.ts';
import { listening } from './taken-port.ts';

/** The listeners of this process. */
export interface Surfaces {
  /** Of the management, write and read surfaces. */
  url: string;
  proxyUrl: string;
  /** Serves on while a load balancer finds out, then stops accepting and waits for what is in flight. */
  close(): Promise<void>;
}

// Of the API description, not of the release (§9).
const apiVersion = '1.0.0';

/** Of a request to the management surface; a deploy and a write say more. */
const managementBodyBytes = 1024 * 1024;

/** Mounts each room's routes on its surface (docs/contract.md, Surfaces). */
export async function createSurfaces(app: App, config: Config, health: Health): Promise<HttpServer> {
  const inBrowser = createConsole(app.ground.log);
  const server = createHttpServer({
    log: app.ground.log,
    bodyLimitBytes: Math.min(managementBodyBytes, config.limits.bodyBytes),
    isHttps: app.ground.publicUrl.startsWith('https:'),
    trustedProxies: config.trustedProxies,
    crossOrigin: {
      prefix: '/v1/',
      allows: (origin, url) => app.projects.allowsOrigin(origin, projectIn(url)),
    },
    unknownPath: inBrowser.unknownPath,
    remedyOfUnknownPath: (request) => remedyOfUnknownPath(request, config.proxyPort),
    listOwner: ({ principal }) => (principal as Principal | undefined)?.projectId,
  });
  await documentApi(server, {
    version: apiVersion,
    about: 'Read from and write to the SaaS accounts of your customers.',
    publicUrl: app.ground.publicUrl,
    sessionCookie: '__Host-svc-session',
    tags: apiTags,
    examples: apiExamples,
    reaching: reachingOf,
  });
  if (isTracing()) traceRequests(server, (route) => !quietRoutes.has(route), tracedOf);
  observe(server, app, config);
  await server.register(healthRoutes({ app, health, metricsPublic: config.metricsPublic }));
  await server.register(docsRoutes());
  await server.register(inBrowser.routes);
  await server.register(callbackRoutes(app.connections));
  await server.register(signInElsewhereRoutes(app.people.elsewhere));
  await server.register(connectPageRoutes(app.projects, app.ground.log));
  await server.register(async (scope) => {
    scope.addHook('onRequest', authenticationHook(app.projects));
    scope.addHook('preValidation', readmissionHook(app.projects));
    const reads = readDepsOf(app, config);
    await scope.register(managementRoutes(app, reads), { prefix: '/v1' });
    const readmit = (request: FastifyRequest): Promise<void> => readmitCaller(app.projects, request);
    await scope.register(streamRoutes({ ...app, readmit }), { prefix: '/v1' });
    await scope.register(writeRoutes(app), { prefix: '/write/v1' });
    await scope.register(readRoutes(reads), { prefix: '/read/v1' });
    await scope.register(searchRoutes(reads), { prefix: '/search/v1' });
  });
  return server;
}

/** Absent means `full` and `develop` only. */
function reachingOf(declared: unknown, method: string): Scope[] | 'public' | 'signedIn' {
  const scopes = (declared ?? []) as RouteScopes;
  return scopes === 'public' || scopes === 'signedIn' ? scopes : reachingScopes(scopes, method);
}

/** The project that a path of the management surface names. */
function projectIn(url: string): string | undefined {
  const [, name] = /^\/v1\/projects\/([^/?]+)/.exec(url) ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return name;
  }
}

function managementRoutes(app: App, reads: ReadDeps): (server: HttpServer) => Promise<void> {
  return async (scope) => {
    scope.addHook('preHandler', actorHook);
    await scope.register(providerCatalogueRoutes(app.catalog));
    await scope.register(projectRoutes(app.projects));
    await scope.register(peopleRoutes(app.people, app.projects));
    await scope.register(auditRoutes(app));
    await scope.register(connectionRoutes(app.connections));
    await scope.register(eventRoutes(app));
    await scope.register(installationRoutes(app.installations));
    await scope.register(operationRoutes(app.operations, app));
    await scope.register(retryRoutes(app));
    await scope.register(retryManyRoutes(app));
    await scope.register(cancelManyRoutes(app));
    await scope.register(writePreviewRoutes(app));
    await scope.register(readStateRoutes(reads));
    await scope.register(destinationRoutes(app));
    await scope.register(deliveryRoutes(app));
    await scope.register(replayRoutes(app));
    await scope.register(retentionRoutes(app));
    await scope.register(transferRoutes(app));
    await scope.register(notificationRoutes(app));
    await scope.register(proxyLogRoutes(app));
    await scope.register(overviewRoutes(app));
  };
}

/** Starts the listeners of the `api` role. */
export async function listen(app: App, config: Config, health: Health): Promise<Surfaces> {
  const server = await createSurfaces(app, config, health);
  const { host: listenAt } = config;
  const url = await listening('SVC_PORT', config.port, () =>
    server.listen({ host: listenAt, port: config.port }),
  );
  const proxy = createProxyServer(app, config);
  const begun = (resolve: () => void, reject: (error: Error) => void): void => {
    proxy.server.once('error', reject);
    proxy.server.listen(config.proxyPort, listenAt, resolve);
  };
  await listening('SVC_PROXY_PORT', config.proxyPort, () => new Promise<void>(begun));
  const { port } = proxy.server.address() as AddressInfo;
  return {
    url,
    proxyUrl: `http://${hostInUrl(config.host)}:${port}`,
    close: async () => {
      await sleep(config.drainMs);
      app.streams.close();
      await Promise.all([drained(server.server), drained(proxy.server)]);
      await Promise.all([server.close(), proxy.close()]);
    },
  };
}

/** Machines ask for these every few seconds; their log lines would hide the others. */
const quietRoutes = new Set(['/healthz', '/readyz', '/metrics']);

function observe(server: HttpServer, { ground: { metrics, log } }: App, { logRequests }: Config): void {
  const isTold = (status: number): boolean =>
    log.isLevelEnabled('info') && (logRequests === 'all' || status >= 400);
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const surface = route.split('/')[1] ?? 'none';
    const { statusCode: status, elapsedTime } = reply;
    metrics.httpRequests.observe(
      { surface, method: request.method, route, status: String(status) },
      elapsedTime / 1000,
    );
    const isQuiet = quietRoutes.has(route) && status < 400;
    if (isTold(status) && !isQuiet) log.info(lineOf(request, route, status, elapsedTime), 'answered');
    done();
  });
}

/** What a span says of a request beside its route. */
function tracedOf({ principal, about = {} }: FastifyRequest): Attributes {
  const { projectId } = Object(principal) as Partial<Principal>;
  const { operationId, problem } = about as Record<string, string | undefined>;
  return { 'svc.project_id': projectId, 'svc.operation_id': operationId, 'svc.problem': problem };
}

/** The path of the route, not of the request: a path may hold a secret. */
function lineOf(request: FastifyRequest, route: string, status: number, ms: number): Record<string, unknown> {
  const { id: requestId, method, about, address: ip } = request;
  // A public route has none.
  const { projectId, keyId, groupRef, person } = Object(request.principal) as Partial<Principal>;
  return {
    requestId,
    method,
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    ip,
    projectId,
    ...(person ? { personId: person.id } : { keyId }),
    groupRef,
    ...about,
  };
}

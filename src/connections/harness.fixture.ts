import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { wholeProject, type Reach } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import { createHttpServer, type HttpServer } from '../kit/http/server.ts';
import type { Logger } from '../kit/log.ts';
import { generateMasterKey } from '../kit/vault.ts';
import { actorHook, authenticationHook, createProjects, type Projects } from '../projects/index.ts';
import { loadCatalog } from '../providers/index.ts';
import { createConnections, type Connections } from './connections.ts';
import { groundOn, publicUrl } from './ground.fixture.ts';
import { callbackRoutes } from './oauth/index.ts';
import { connectionRoutes } from './routes.ts';
import type { Connection as WireConnection } from './schema.ts';

interface Answered {
  status: number;
  type: string;
  text: string;
  location: string;
  json: WireConnection & { code?: string };
}

export interface Harness {
  ground: Ground;
  /** For nodes in processes of their own. */
  databaseUrl: string;
  masterKey: string;
  projects: Projects;
  connections: Connections;
  projectId: string;
  /** All of the project. */
  reach: Reach;
  apiKey: string;
  /** Another node over the same database. */
  secondNode(): Connections;
  /** A request with the full key, with another, or with the headers of somebody else. */
  call(
    method: string,
    path: string,
    body?: unknown,
    who?: string | Record<string, string>,
  ): Promise<Answered>;
  /** A browser opens the link of a flow: where it is sent, at the provider. The harness keeps its cookies. */
  open(link: string): Promise<URL>;
  /** The same, and on to the provider's page, which sends it back to our callback, whose path and query are answered. */
  visit(link: string): Promise<string>;
  /** The connections that a list answers. */
  list(query?: string, key?: string): Promise<WireConnection[]>;
  shiftClock(interval: string): Promise<void>;
  close(): Promise<void>;
}

/** Further routes under `/v1`. */
type RoutesOf = (deps: { ground: Ground; projects: Projects }) => (server: HttpServer) => Promise<void>;

const returnUrls = ['https://app.example.com'];

/** The room over a real database, with the providers at the given origins. */
export async function createHarness(
  origins: Record<string, string>,
  options: { directory?: string; routes?: RoutesOf[]; log?: Logger } = {},
): Promise<Harness> {
  const test: TestDatabase = await createTestDatabase();
  const masterKey = generateMasterKey('k1');
  const ground = { ...groundOn(test.database, masterKey), ...(options.log ? { log: options.log } : {}) };
  const { log, egress } = ground;
  const catalog = loadCatalog({ origins, directory: options.directory });
  const projects = createProjects(ground, { catalog, returnUrls });
  const { projectId, apiKey = '' } = await projects.bootstrap();
  const nodes: Connections[] = [];
  const newNode = (): Connections => {
    const node = createConnections(ground, { projects, catalog });
    nodes.push(node);
    return node;
  };
  const connections = newNode();
  const server: HttpServer = createHttpServer({ log, bodyLimitBytes: 1e6, trustedProxies: [] });
  await server.register(async (scope) => {
    scope.addHook('onRequest', authenticationHook(projects));
    scope.addHook('preHandler', actorHook);
    await scope.register(connectionRoutes(connections), { prefix: '/v1' });
    await scope.register(callbackRoutes(connections));
    for (const routes of options.routes ?? [])
      await scope.register(routes({ ground, projects }), { prefix: '/v1' });
  });
  const cookies = new Map<string, string>();
  const call: Harness['call'] = async (method, path, body, who = apiKey) => {
    const answer = await server.inject({
      method: method as 'GET',
      url: path,
      headers: {
        ...(typeof who === 'string' ? { 'x-api-key': who } : who),
        ...(path.startsWith('/callbacks/') ? { cookie: [...cookies.values()].join('; ') } : {}),
      },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const type = answer.headers['content-type'] ?? '';
    return {
      status: answer.statusCode,
      type,
      text: answer.body,
      json: (type.includes('json') ? JSON.parse(answer.body) : undefined) as Answered['json'],
      location: answer.headers.location ?? '',
    };
  };
  const open: Harness['open'] = async (link) => {
    const headers = { cookie: [...cookies.values()].join('; ') };
    const answer = await server.inject({ method: 'GET', url: link.slice(publicUrl.length), headers });
    const [cookie = ''] = String(answer.headers['set-cookie']).split(';');
    cookies.set(cookie, cookie);
    if (answer.statusCode !== 302) throw new Error(`not sent on: ${answer.statusCode} ${answer.body}`);
    return new URL(String(answer.headers.location));
  };
  return {
    ground,
    databaseUrl: test.url,
    masterKey,
    projects,
    connections,
    projectId,
    reach: wholeProject(projectId),
    apiKey,
    secondNode: newNode,
    call,
    open,
    async visit(link) {
      const answer = await fetch(await open(link), { redirect: 'manual' });
      const location = answer.headers.get('location');
      if (!location?.startsWith(publicUrl))
        throw new Error(`not sent back: ${answer.status} ${location} ${await answer.text()}`);
      return location.slice(publicUrl.length);
    },
    list: async (query = '', key = apiKey) =>
      (await call('GET', `/v1/projects/default/connections${query}`, undefined, key))
        .json as unknown as WireConnection[],
    async shiftClock(interval) {
      await test.database.raw('UPDATE clock SET shift = shift + $1::interval', [interval]);
    },
    async close() {
      for (const node of nodes) await node.close();
      await server.close();
      await projects.close();
      await egress.close();
      await test.drop();
    },
  };
}

/** The control API of a simulator. */
export async function control(
  simulator: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${simulator}/__sim/${path}`, init);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** How many requests of a grant type a simulator's token endpoint received. */
export async function tokenRequests(simulator: string, grantType: string): Promise<number> {
  const { requests } = (await control(simulator, 'requests?path=token')) as { requests: { body: string }[] };
  return requests.filter(({ body }) => new URLSearchParams(body).get('grant_type') === grantType).length;
}

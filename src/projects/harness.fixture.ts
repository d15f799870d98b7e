import { createTestDatabase } from '../../test/database.ts';
import type { Database } from '../kit/db/database.ts';
import { createHttpServer } from '../kit/http/server.ts';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { createVault } from '../kit/vault.ts';
import { loadCatalog } from '../providers/index.ts';
import {
  actorHook,
  authenticationHook,
  createProjects,
  projectRoutes,
  providerCatalogueRoutes,
  type Projects,
} from './index.ts';

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  // Each test knows the shape that it asked for.
  body: any; // oxlint-disable-line typescript/no-explicit-any
}

export interface CallOptions {
  /** Another key than the first one; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
}

/** The harness behind its routes, on a database of its own, with the project `default`. */
export interface Harness {
  database: Database;
  projects: Projects;
  projectId: string;
  apiKey: string;
  /** Another node on the same database. */
  createNode(): Projects;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<Answer>;
  /** How often a statement ran so far, on all nodes. */
  calls(statement: string): number;
  close(): Promise<void>;
}

const probes = {
  any: [],
  write: ['write'],
  read: ['read'],
  proxy: ['proxy'],
  frontend: ['frontend'],
} as const;

/** Beside the room's routes there is `/v1/probe/<scope>` for each scope, `any` being full only, and `/v1/probe/undeclared`. */
export async function openHarness(
  options: Partial<Parameters<typeof createProjects>[1]> = {},
): Promise<Harness> {
  const test = await createTestDatabase();
  const counts = new Map<string, number>();
  const database: Database = {
    ...test.database,
    rows: (statement, values) => {
      counts.set(statement.name, (counts.get(statement.name) ?? 0) + 1);
      return test.database.rows(statement, values);
    },
  };
  const catalog = loadCatalog();
  const vault = createVault([{ id: 't1', key: Buffer.alloc(32, 7) }]);
  const nodes: Projects[] = [];
  const createNode = (): Projects => {
    const node = createProjects(
      { database, vault, log: createLog('silent'), metrics: createMetrics(), publicUrl: 'http://svc.test' },
      { catalog, ...options },
    );
    nodes.push(node);
    return node;
  };
  const projects = createNode();
  const { projectId, apiKey = '' } = await projects.bootstrap();
  const server = createHttpServer({
    log: createLog('silent'),
    bodyLimitBytes: 10 * 1024 * 1024,
    trustedProxies: [],
  });
  await server.register(
    async (scope) => {
      scope.addHook('onRequest', authenticationHook(projects));
      scope.addHook('preHandler', actorHook);
      await scope.register(projectRoutes(projects));
      await scope.register(providerCatalogueRoutes(catalog));
      for (const [name, scopes] of Object.entries(probes)) {
        scope.get(`/probe/${name}`, { config: { scopes } }, async (request) => request.principal);
      }
      scope.route({ method: 'GET', url: '/probe/undeclared', handler: async (request) => request.principal });
    },
    { prefix: '/v1' },
  );

  return {
    database,
    projects,
    projectId,
    apiKey,
    createNode,
    calls: (statement) => counts.get(statement) ?? 0,
    async call(method, path, body, { key = apiKey, headers = {} } = {}) {
      const reply = await server.inject({
        method,
        url: `/v1${path}`,
        headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
        ...(body === undefined ? {} : { payload: body as object }),
      });
      const answered: unknown = reply.body === '' ? undefined : JSON.parse(reply.body);
      return { status: reply.statusCode, headers: reply.headers, body: answered };
    },
    async close() {
      await server.close();
      await Promise.all(nodes.map((node) => node.close()));
      await test.drop();
    },
  };
}

import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { groundOn } from '../connections/ground.fixture.ts';
import { connectionRoutes, createConnections, type Connections } from '../connections/index.ts';
import { eventRoutes } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import { createHttpServer } from '../kit/http/server.ts';
import { parseJson } from '../kit/json.ts';
import type { Issue } from '../kit/problem.ts';
import { generateMasterKey } from '../kit/vault.ts';
import { authenticationHook, createProjects, projectRoutes, type Projects } from '../projects/index.ts';
import { loadCatalog } from '../providers/index.ts';
import { createInstallations, installationRoutes, type Installations } from './index.ts';
import type { Installation } from './schema.ts';

/** What most calls answer: an installation, or a problem. */
export type Body = Installation & { code: string; remedy: string; issues?: Issue[] };

export interface Answer<Json = Body> {
  status: number;
  headers: Record<string, unknown>;
  json: Json;
}

export interface Harness {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  projectId: string;
  /** Below `/v1/projects/default`, with the full key, or with another. */
  call<Json = Body>(method: string, path: string, body?: unknown, key?: string): Promise<Answer<Json>>;
  /** Connects the group by imported tokens and returns the connection's id. */
  connect(groupRef: string, consumerRef?: string): Promise<string>;
  key(given: { scopes: ('full' | 'read' | 'write' | 'frontend')[]; groupRef?: string }): Promise<string>;
  /** The simulator's control API. */
  simulator<Json = unknown>(method: string, path: string, body?: unknown): Promise<Json>;
  close(): Promise<void>;
}

export const manifest = `specVersion: 1.0.0
integrations:
  - name: crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: hook
          mapToName: people
          requiredFields:
            - fieldName: email
            - mapToName: nick
              prompt: Which field holds the nickname?
          optionalFields:
            - fieldName: mobilephone
              mapToName: cell
        - objectName: companies
          destination: hook
          schedule: '0 * * * *'
          optionalFieldsAuto: all
    write:
      objects:
        - objectName: contacts
          inheritMapping: true
        - objectName: companies
    proxy: { enabled: true }
  - name: other
    provider: hubspot
    write:
      objects: [{ objectName: contacts }]
  - name: broken
    provider: hubspot
    read:
      objects: [{ objectName: nosuchthing, destination: hook, optionalFieldsAuto: all, optionalFields: [{ fieldName: "$['a']['b']" }] }, { objectName: contacts, destination: hook, requiredFields: [{ fieldName: email }], optionalFieldsAuto: all, optionalFields: [{ fieldName: "$['properties']['city']" }] }]
    write:
      objects: [{ objectName: nosuchthing }]
`;

/** This room with the real rooms below it, a real database and a simulated HubSpot. */
export async function createHarness(simulator: { url: string; close(): Promise<void> }): Promise<Harness> {
  const test: TestDatabase = await createTestDatabase();
  const ground = groundOn(test.database, generateMasterKey('k1'));
  const catalog = loadCatalog({ origins: { hubspot: simulator.url } });
  const projects = createProjects(ground, { catalog });
  const { projectId, apiKey = '' } = await projects.bootstrap();
  const connections = createConnections(ground, { projects, catalog });
  const installations = createInstallations(ground, { projects, connections, catalog });
  const server = createHttpServer({ log: ground.log, bodyLimitBytes: 1e7, trustedProxies: [] });
  await server.register(async (scope) => {
    scope.addHook('onRequest', authenticationHook(projects));
    await scope.register(projectRoutes(projects), { prefix: '/v1' });
    await scope.register(connectionRoutes(connections), { prefix: '/v1' });
    await scope.register(installationRoutes(installations), { prefix: '/v1' });
    await scope.register(eventRoutes({ ground, projects }), { prefix: '/v1' });
  });

  async function call<Json = Body>(
    method: string,
    path: string,
    body?: unknown,
    key = apiKey,
  ): Promise<Answer<Json>> {
    const answer = await server.inject({
      method: method as 'GET',
      url: `/v1/projects/default${path}`,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const json = (answer.body === '' ? undefined : parseJson(answer.body)) as Json;
    return { status: answer.statusCode, headers: answer.headers, json };
  }

  async function control<Json = unknown>(method: string, path: string, body?: unknown): Promise<Json> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const answer = await fetch(`${simulator.url}/__sim/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Json;
  }

  async function deploy(): Promise<void> {
    const answers = [
      await call('PUT', '/integrations:batch', { sourceYaml: manifest }),
      await call('POST', '/provider-apps', {
        provider: 'hubspot',
        clientId: 'c',
        clientSecret: 's',
        scopes: ['oauth'],
      }),
    ];
    for (const { status, json } of answers)
      if (![200, 409].includes(status)) throw new Error(JSON.stringify(json));
  }

  // Many tests share the account, and none is about its limit.
  await control('POST', 'quotas', { burstMax: null });
  await deploy();
  return {
    ground,
    projects,
    connections,
    installations,
    projectId,
    call,
    simulator: control,
    async connect(groupRef, consumerRef = 'u1') {
      const issued = control<{ accessToken: string; refreshToken: string }>('POST', 'tokens', {
        action: 'issue',
      });
      const { accessToken, refreshToken } = await issued;
      const made = await call('POST', '/connections:generate', {
        provider: 'hubspot',
        groupRef,
        groupName: `Group ${groupRef}`,
        consumerRef,
        oauth2AuthorizationCode: {
          accessToken: { token: accessToken },
          refreshToken: { token: refreshToken },
        },
      });
      if (made.status !== 201) throw new Error(`connect: ${made.status} ${JSON.stringify(made.json)}`);
      return made.json.id;
    },
    async key(given) {
      const { key } = await projects.apiKeys.create(projectId, { label: 'test', ...given });
      return key ?? '';
    },
    async close() {
      installations.close();
      await connections.close();
      await server.close();
      await projects.close();
      await simulator.close();
      await ground.egress.close();
      await test.drop();
    },
  };
}

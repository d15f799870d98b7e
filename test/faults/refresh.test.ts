import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../../src/connections/harness.fixture.ts';
import { createConnections, type Connections } from '../../src/connections/index.ts';
import { groundOn } from '../../src/connections/ground.fixture.ts';
import { openDatabase } from '../../src/kit/db/database.ts';
import { Problem } from '../../src/kit/problem.ts';
import { createProjects } from '../../src/projects/index.ts';
import { loadCatalog } from '../../src/providers/index.ts';
import { startForwarder } from '../forwarder.ts';
import { copySources } from '../mutants/sources.ts';
import { startRotatingServer, type RotatingServer } from './rotating-server.ts';

// The full numbers with LONG=1; otherwise as many as fit a run of all tests.
const isLong = process.env['LONG'] === '1';
const expiries = isLong ? 50 : 10;
const kills = isLong ? 100 : 20;
const slowMs = isLong ? 30_000 : 5_000;
const callersPerNode = 100;
/** Nodes read a row again after a second. */
const rereadMs = 2_100;

const providerFile = `name: rotating
displayName: Rotating
authType: oauth2
baseURL: https://api.rotating.example
docsURL: https://rotating.example/docs
oauth2Opts:
  grantType: authorizationCode
  authURL: https://api.rotating.example/auth
  tokenURL: https://api.rotating.example/token
  pkce: true
  scopeSeparator: " "
  explicitScopesRequired: false
  explicitWorkspaceRequired: false
  tokenClientAuth: body
  refreshTokenRotates: true
  tokenMetadataFields: {}
`;

interface Connected {
  id: string;
  /** The tokens of one consent: when the server ends them, the connection is dead. */
  family: string;
}

describe('test/faults/refresh', () => {
  let directory: string;
  let server: RotatingServer;
  let harness: Harness;
  let nodes: [Connections, Connections];
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'svc-rotating-'));
    await writeFile(join(directory, 'rotating.yaml'), providerFile);
    server = await startRotatingServer();
    harness = await createHarness({ rotating: server.url }, { directory });
    nodes = [harness.connections, harness.secondNode()];
    const { clientId, clientSecret } = server;
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'rotating',
      clientId,
      clientSecret,
    });
  });
  beforeEach(() => {
    server.delayTokens(0);
    server.revoked.length = 0;
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await harness?.close();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  let groups = 0;
  async function connect(): Promise<Connected> {
    const group = `group-${(groups += 1)}`;
    const { accessToken, refreshToken, family } = await server.authorize(group);
    const expiresAt = new Date(Date.now() + 3_600_000 + 86_400_000).toISOString();
    const { id } = await nodes[0].generate(harness.projectId, {
      provider: 'rotating',
      groupRef: group,
      consumerRef: 'ada',
      oauth2AuthorizationCode: {
        accessToken: { token: accessToken, expiresAt },
        refreshToken: { token: refreshToken },
      },
    });
    return { id, family };
  }

  /** The results of 100 callers at each node at once: statuses of the provider, or codes of our errors. */
  async function callAll(id: string): Promise<Set<number | string>> {
    const call = async (node: Connections): Promise<number | string> => {
      try {
        const client = await node.client(harness.projectId, id);
        const result = await client.send({ method: 'GET', path: '/me' });
        return 'answer' in result ? result.answer.status : result.fault.message;
      } catch (error) {
        return String(error);
      }
    };
    const calls = nodes.flatMap((node) => Array.from({ length: callersPerNode }, () => call(node)));
    return new Set(await Promise.all(calls));
  }

  /** The token ends by the clock of the database, and both nodes have had the time to see it. */
  async function expire(id: string): Promise<void> {
    await harness.ground.database.raw(
      `UPDATE connection SET access_expires_at = svc_now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    await sleep(rereadMs);
  }

  /** The token ends at the provider, before its time. */
  async function endAccess(id: string): Promise<void> {
    const { headers } = await nodes[0].credential(harness.projectId, id);
    await server.endAccess(headers['authorization']?.replace(/^Bearer /, '') ?? '');
  }

  it(
    `makes one token request per expiry for ${callersPerNode} callers at each of two nodes`,
    { timeout: expiries * 10_000 },
    async () => {
      const { id } = await connect();
      const before = server.requests();
      for (let round = 0; round < expiries; round += 1) {
        // The nodes learn of the expiry by the clock in one round, and by a 401 in the next.
        if (round % 2 === 0) await expire(id);
        else await endAccess(id);
        expect(await callAll(id)).toEqual(new Set([200]));
        expect(server.requests() - before).toBe(round + 1);
      }
      expect(server.revoked).toEqual([]);
      expect((await nodes[0].get(harness.reach, id)).generation).toBe(expiries + 1);
    },
  );

  it(
    `lets every caller wait for a token endpoint that takes ${slowMs / 1000} s`,
    { timeout: 4 * slowMs + 30_000 },
    async () => {
      const { id } = await connect();
      const before = server.requests();
      server.delayTokens(slowMs);
      await expire(id);
      expect(await callAll(id)).toEqual(new Set([200]));
      await endAccess(id);
      expect(await callAll(id)).toEqual(new Set([200]));
      expect(server.requests() - before).toBe(2);
      expect(server.revoked).toEqual([]);
    },
  );

  /** A node whose way to the database can be cut. */
  async function startCutNode() {
    const wire = await startForwarder(harness.databaseUrl);
    const database = openDatabase({ url: wire.url, poolSize: 4, applicationName: 'svc cut node' });
    const ground = groundOn(database, harness.masterKey);
    const catalog = loadCatalog({ directory, origins: { rotating: server.url } });
    const projects = createProjects(ground, { catalog });
    const node = createConnections(ground, { projects, catalog });
    const close = async () => {
      await node.close();
      await projects.close();
      await database.close();
      await wire.close();
    };
    return { node, wire, close };
  }

  const codeOf = (error: unknown) => (error instanceof Problem ? error.code : error);

  /** The provider has the request, and answers a moment later. */
  async function begunAt(node: Connections, id: string): Promise<{ ended: Promise<unknown> }> {
    server.delayTokens(700);
    const before = server.requests();
    const ended = node.refresh(harness.projectId, id, 'force').catch((error: unknown) => error);
    await expect.poll(() => server.requests()).toBe(before + 1);
    return { ended };
  }

  it.each([
    ['a moment', 'refuse', 2_000, undefined],
    ['a moment, silently', 'hang', 2_000, undefined],
    ['longer than a caller waits', 'refuse', 8_000, 'database-unavailable'],
  ] as const)(
    'loses no pair to a database that is away for %s when the provider answers',
    async (_what, how, awayMs, refusal) => {
      const { id } = await connect();
      const { node, wire, close } = await startCutNode();
      try {
        const { ended } = await begunAt(node, id);
        wire.cut(how);
        await sleep(awayMs);
        wire.heal();
        expect(codeOf(await ended)).toBe(refusal);
        const found = () => nodes[0].get(harness.reach, id);
        await expect.poll(found).toMatchObject({ generation: 2, status: 'created' });
        server.delayTokens(0);
        await nodes[1].refresh(harness.projectId, id, 'force');
        expect(await found()).toMatchObject({ generation: 3, status: 'created' });
        expect(server.revoked).toEqual([]);
      } finally {
        await close();
      }
    },
    60_000,
  );

  it('loses no pair to a node that ends in order while the provider answers', async () => {
    const { id } = await connect();
    const { node, close } = await startCutNode();
    await begunAt(node, id);
    await close();
    await nodes[1].refresh(harness.projectId, id, 'force');
    expect(await nodes[0].get(harness.reach, id)).toMatchObject({ generation: 3, status: 'created' });
    expect(server.revoked).toEqual([]);
  });

  /** A node in a process of its own, of these sources or of a copy of them. */
  async function startNode(env: Record<string, string> = {}, sources = '../..'): Promise<ChildProcess> {
    const file = join(sources === '../..' ? join(import.meta.dirname, sources) : sources, 'test/faults');
    const child = fork(join(file, 'refresh-node.ts'), {
      execArgv: [],
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: harness.databaseUrl,
        MASTER_KEY: harness.masterKey,
        PROVIDERS_DIR: directory,
        // Each of these starts compiles the same sources.
        NODE_COMPILE_CACHE: join(directory, 'compiled'),
        ORIGINS: JSON.stringify({ rotating: server.url }),
        ...env,
      },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    await once(child, 'message');
    return child;
  }

  it(
    `flags the pair that each of ${kills} deaths in a refresh lost, within one call, and asks no more`,
    { timeout: kills * 5_000 + 30_000 },
    async () => {
      const connected = await Promise.all(Array.from({ length: kills }, connect));
      const waiting = [...connected];
      const killOne = async (): Promise<void> => {
        for (let next = waiting.pop(); next; next = waiting.pop()) {
          const child = await startNode({ SVC_CRASH_AT: 'after-refresh' });
          const exit = once(child, 'exit');
          child.send({ projectId: harness.projectId, id: next.id, callers: 3 });
          expect(await exit).toEqual([null, 'SIGKILL']);
        }
      };
      await Promise.all([killOne(), killOne()]);
      // The leases of the dead nodes end.
      await harness.shiftClock('2 minutes');
      const before = server.requests();
      for (const [at, { id }] of connected.entries()) {
        const refused = { code: 'connection-bad-credentials' };
        await expect(nodes[0].refresh(harness.projectId, id, 'force')).rejects.toMatchObject(refused);
        expect((await nodes[1].get(harness.reach, id)).status).toBe('bad_credentials');
        for (const node of nodes)
          await expect(node.renew(harness.projectId, id, 1)).rejects.toMatchObject(refused);
        expect(server.requests() - before).toBe(at + 1);
      }
      // Each pair was lost indeed: the provider saw an old token again.
      expect(new Set(server.revoked)).toEqual(new Set(connected.map(({ family }) => family)));
    },
  );

  it('sees a family revoked when the lease is off', { timeout: 60_000 }, async () => {
    const copy = await copySources();
    try {
      await copy.change([
        {
          file: 'src/connections/refresh/store.ts',
          find: '\n     AND (refresh_lease IS NULL OR refresh_lease_until < svc_now())',
          replace: '',
        },
      ]);
      const { id, family } = await connect();
      const pair = await Promise.all([startNode({}, copy.folder), startNode({}, copy.folder)]);
      server.delayTokens(1_000);
      const answers = pair.map((child) => once(child, 'message'));
      for (const child of pair) child.send({ projectId: harness.projectId, id, callers: callersPerNode });
      await Promise.all(answers);
      expect(server.revoked).toContain(family);
      for (const child of pair) child.disconnect();
    } finally {
      await copy.remove();
    }
  });
});

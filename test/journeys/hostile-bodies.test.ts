import { once } from 'node:events';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import {
  hostileBodies,
  hostileConfigs,
  hostileManifests,
  hostilePatches,
  hostilePaths,
  hostileWrites,
} from '../hostile-bodies.ts';
import { holding, mostDelayMs } from '../loop-delay.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

const mebibyte = 1024 * 1024;
/** How many values a body has: a little fewer than are read at all. */
const values = { usual: 19_000, ofWrites: 49_000 };

describe('test/journeys/hostile-bodies', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  interface Sent {
    status: number;
    /** In milliseconds of a processor that is not slowed. */
    held: number;
    bytes: number;
  }

  /** Sends a request, again where it held the loop for too long: other work on the machine does not last for all attempts. */
  async function send(
    method: string,
    target: string,
    body: string | Buffer,
    headers: Record<string, string> = { 'x-api-key': platform.apiKey },
  ): Promise<Sent> {
    // A caller who is refused early still sends; without keep-alive the server would end the connection.
    const all = { 'content-type': 'application/json', connection: 'keep-alive', ...headers };
    const { result, held } = await holding(platform, () =>
      rawCall(platform.base, { method, target, headers: all, body }),
    );
    return { status: result.status, held, bytes: result.body.length };
  }

  /** Whether a request is answered although its body has not come. */
  async function isAnsweredEarly(line: string): Promise<boolean> {
    const { hostname, port } = new URL(platform.base);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `${line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${mebibyte}\r\n\r\n[`,
    );
    const answered = once(socket, 'data', { signal: AbortSignal.timeout(5_000) });
    return answered
      .then(
        () => true,
        () => false,
      )
      .finally(() => socket.destroy());
  }

  /** A fault where the request held up the server, was answered by a 5xx, or got a long answer. */
  function faultsOf(what: string, { status, held, bytes }: Sent): string[] {
    const isFine = held <= mostDelayMs && status >= 200 && status < 500 && bytes < 100_000;
    return isFine ? [] : [`${what}: ${status}, ${bytes} bytes, held the loop for ${Math.round(held)} ms`];
  }

  const ids = (path: string): string =>
    path
      .replace('{projectIdOrName}', 'default')
      .replace(/\{integrationId(OrName)?\}/, customer.integration)
      .replace('{installationId}', customer.installationId)
      .replace('{connectionId}', customer.connectionId)
      .replace('{objectName}', 'contacts')
      .replaceAll(/\{\w+\}/g, 'none');

  it('no request to any endpoint holds up other callers', async () => {
    const { body: document } = await platform.call<{
      paths: Record<string, Record<string, { requestBody?: unknown }>>;
    }>('GET', '/openapi.json');
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, { requestBody }]) =>
        requestBody ? [[method.toUpperCase(), ids(path)] as const] : [],
      ),
    );
    expect(routes.length).toBeGreaterThan(15);
    const faults: string[] = [];
    for (const [method, path] of routes) {
      const isWrite = path.startsWith('/write');
      const size = isWrite ? 9.5 * mebibyte : 0.95 * mebibyte;
      for (const { what, body } of hostileBodies(size, isWrite ? values.ofWrites : values.usual)) {
        faults.push(...faultsOf(`${method} ${path}, ${what}`, await send(method, path, body)));
      }
    }
    expect(faults).toEqual([]);
  }, 900_000);

  it('no body is read before its caller is known', async () => {
    const faults: string[] = [];
    for (const target of ['/nothing', '/v1/projects', '/write/v1/projects/a/integrations/b/objects/c']) {
      for (const { what, body } of hostileBodies(9.5 * mebibyte, values.ofWrites)) {
        const sent = await send('POST', target, body, {});
        expect([404, 401]).toContain(sent.status);
        faults.push(...faultsOf(`${target}, ${what}`, sent));
      }
    }
    expect(faults).toEqual([]);
  }, 300_000);

  it('by no method is a body waited for whose caller is not known', async () => {
    const methods = METHODS.filter((method) => method !== 'CONNECT');
    const asked = ['/nothing', '/v1/projects', '/healthz'].flatMap((target) =>
      methods.map((method) => `${method} ${target}`),
    );
    const waiting = await Promise.all(
      asked.map(async (line) => ((await isAnsweredEarly(line)) ? [] : [line])),
    );
    expect(waiting.flat()).toEqual([]);
  }, 30_000);

  it('no path of a request without a key holds up others', async () => {
    const faults: string[] = [];
    for (const { what, path } of hostilePaths()) {
      const sent = await send('GET', path, '', {});
      expect(sent.status).toBe(404);
      faults.push(...faultsOf(what, sent));
    }
    expect(faults).toEqual([]);
  }, 60_000);

  it('configs, changes, manifests and writes of the right shape do not hold up other callers', async () => {
    const faults: string[] = [];
    const post = async (what: string, method: string, target: string, body: unknown): Promise<void> => {
      faults.push(...faultsOf(what, await send(method, target, JSON.stringify(body))));
    };
    const base = `/v1/projects/default/integrations/${customer.integration}`;
    for (const [index, content] of hostileConfigs().entries()) {
      await post(`config ${index}`, 'POST', `${base}/installations`, {
        groupRef: 'acme',
        config: { content },
      });
      const updateMask = Array.from({ length: 100 }, () => 'config.content.write.objects');
      await post(`masked config ${index}`, 'PATCH', `${base}/installations/${customer.installationId}`, {
        updateMask: 'write' in content ? updateMask : ['config.content.read.objects.contacts'],
        installation: { config: { content } },
      });
    }
    for (const [index, changes] of hostilePatches().entries()) {
      const body = { groupRef: 'acme', action: 'read', changes };
      await post(`patch ${index}`, 'PATCH', `${base}/objects/contacts/config-content`, body);
    }
    const masks = Array.from({ length: 100 }, (_, index) => `a\\.${'.b'.repeat(1_900)}${index}`);
    await post('masks', 'PATCH', '/v1/projects/default', { updateMask: masks, project: {} });
    for (const { what, body } of hostileManifests()) {
      await post(`manifest with ${what}`, 'PUT', '/v1/projects/default/integrations:batch', {
        sourceYaml: String(body),
      });
    }
    for (const [index, write] of hostileWrites().entries()) {
      const target = `/write${base}/objects/contacts`;
      await post(`write ${index}`, 'POST', target, { groupRef: 'acme', ...write });
    }
    expect(faults).toEqual([]);
  }, 900_000);
});

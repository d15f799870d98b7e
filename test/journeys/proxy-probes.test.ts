import { connect as dial, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { targetProbes } from '../../src/kit/http/egress-cases.fixture.ts';
import { deploy, install, requestsOf, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/proxy-probes', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  let honeypot: Server;
  let evil: string;
  let connections = 0;

  beforeAll(async () => {
    honeypot = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((done) => honeypot.listen(0, '127.0.0.1', done));
    evil = `127.0.0.1:${(honeypot.address() as AddressInfo).port}`;
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    honeypot?.close();
    await test?.drop();
  });

  /** Writes the request line as it stands; the answer's status. */
  function ask(target: string): Promise<number> {
    const { hostname, port } = new URL(platform.proxy);
    const head = [
      `GET ${target} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `x-api-key: ${platform.apiKey}`,
      'x-svc-proxy-version: 1',
      `x-svc-project-id: ${platform.projectId}`,
      `x-svc-installation-id: ${acme.installationId}`,
      'Connection: close',
    ];
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = dial(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n`));
      socket.setTimeout(5_000, () => socket.destroy(new Error(`no answer to ${JSON.stringify(target)}`)));
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      socket.on('error', reject);
      socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])));
    });
  }

  it.each(targetProbes('@@').map((probe) => [JSON.stringify(probe), probe]))(
    'the target %s reaches the provider as it stands, or nobody',
    async (_shown, probe) => {
      const target = probe.replaceAll('@@', evil);
      const seq = (await requestsOf(platform.hubspot)).at(-1)?.seq ?? 0;
      const status = await ask(target);
      const seen = (await requestsOf(platform.hubspot, seq)).map(({ path }) => path);
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(500);
      // The fragment is no part of a request; whether a server keeps it is its own affair.
      const allowed = target.startsWith('/') ? [[], [target], [target.split('#')[0]]] : [[]];
      expect(allowed).toContainEqual(seen);
      expect(seen.length === 0).toBe(status === 400);
      expect(connections).toBe(0);
    },
  );
});

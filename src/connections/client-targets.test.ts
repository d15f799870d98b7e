import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddressRules } from '../kit/http/address.ts';
import { targetProbes } from '../kit/http/egress-cases.fixture.ts';
import { createEgress } from '../kit/http/egress.ts';
import type { Ground } from '../kit/ground.ts';
import { createMetrics } from '../kit/metrics.ts';
import { createProviderClient } from './client.ts';

async function listen(): Promise<{ server: Server; host: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, paths, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('src/connections/client-targets', () => {
  let provider: Awaited<ReturnType<typeof listen>>;
  let honeypot: Awaited<ReturnType<typeof listen>>;

  beforeAll(async () => {
    [provider, honeypot] = await Promise.all([listen(), listen()]);
  });
  afterAll(() => {
    for (const { server } of [provider, honeypot]) {
      server.closeAllConnections();
      server.close();
    }
  });

  const send = async (path: string, basePath = ''): Promise<{ answer?: unknown; fault?: unknown }> => {
    // Both are allowed: only the way the target is built keeps a call from the honeypot.
    const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
    const credential = async () => ({
      origin: `http://${provider.host}`,
      basePath,
      headers: { authorization: 'Bearer secret' },
      generation: 1,
    });
    const client = createProviderClient({
      ground: { egress, metrics: createMetrics(), limits: { providerCallMs: 2_000 } } as unknown as Ground,
      provider: 'x',
      whose: 'x',
      credential,
      renew: credential,
      markWorking: () => undefined,
      observe: () => undefined,
    });
    try {
      return await client.send({ method: 'GET', path });
    } finally {
      await egress.close();
    }
  };

  test.each(targetProbes('@@').map((probe) => [JSON.stringify(probe), probe]))(
    'a path %s leads to the provider or nowhere',
    async (_shown, probe) => {
      const path = probe.replaceAll('@@', honeypot.host);
      for (const basePath of ['', '/base']) {
        const before = provider.paths.length;
        const result = await send(path, basePath).catch((error: Error) => ({ fault: error.message }));
        const seen = provider.paths.slice(before);
        expect(seen).toHaveLength('answer' in result ? 1 : 0);
        expect(seen.every((each) => each.startsWith(`${basePath}/`))).toBe(true);
        expect('answer' in result && !path.startsWith('/')).toBe(false);
      }
      expect(honeypot.paths).toEqual([]);
    },
  );

  test.each([
    '/a/../../b',
    '/..',
    '/.',
    '/a/%2e%2e/b',
    '/a/.%2E/b',
    '/a/..',
    '/..\\..\\x',
    '/a/.\t./b',
    '/a/..?x',
    '/a/..#x',
  ])('a path %j would leave its place, and is not sent', async (path) => {
    const before = provider.paths.length;
    expect(await send(path, '/base')).toMatchObject({ fault: { kind: 'refused', sent: false } });
    expect(provider.paths.length).toBe(before);
  });

  test.each(['/a..b', '/..a/b', '/a/...', '/a?q=../..', '/a/..%2fb', '/a;/x..'])(
    'a path %j is sent',
    async (path) => {
      expect(await send(path, '/base')).toHaveProperty('answer');
    },
  );

  test('the honeypot notes who comes (the negative control)', async () => {
    await fetch(`http://${honeypot.host}/x`);
    expect(honeypot.paths).toEqual(['/x']);
  });
});

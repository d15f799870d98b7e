import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseAddressRules } from '../kit/http/address.ts';
import { createEgress } from '../kit/http/egress.ts';
import type { Ground } from '../kit/ground.ts';
import { createMetrics } from '../kit/metrics.ts';
import { createProviderClient } from './client.ts';

describe('src/connections/client', () => {
  let server: Server;
  let seen: (string | undefined)[] = [];
  const large = Buffer.alloc(3 * 1024 * 1024, 'x');
  const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });

  beforeAll(async () => {
    server = createServer(({ url, headers: { authorization } }, response) => {
      seen.push(authorization);
      if (url?.startsWith('/large')) {
        response.write(large);
        if (url === '/large') response.end();
        return;
      }
      response.writeHead(authorization === 'Bearer 2' ? 200 : 401).end('{}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    await egress.close();
    server.closeAllConnections();
    server.close();
  });

  const credential = (generation: number) => ({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    basePath: '',
    headers: { authorization: `Bearer ${generation}` },
    generation,
  });
  const clientThat = (onRenew: () => void, whose = 'x', providerCallMs = 2_000) =>
    createProviderClient({
      ground: { egress, metrics: createMetrics(), limits: { providerCallMs } } as unknown as Ground,
      provider: 'x',
      whose,
      credential: async () => credential(1),
      renew: async () => {
        onRenew();
        return credential(2);
      },
      markWorking: () => undefined,
      observe: () => undefined,
    });

  test('repeats a call once after a 401, with the renewed credential', async () => {
    const client = clientThat(() => undefined);
    expect(await client.send({ method: 'POST', path: '/', body: {} }, () => true)).toMatchObject({
      answer: { status: 200 },
    });
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('tells of a call the headers that are sent with it, but the credential', async () => {
    const told: unknown[] = [];
    const client = clientThat(() => undefined);
    const headers = { 'X-Own': 'a', Authorization: 'Bearer mine' };
    await client.send({ method: 'POST', path: '/', body: {}, headers }, undefined, ({ request }) =>
      told.push(request.headers),
    );
    await client.send({ method: 'GET', path: '/' }, undefined, ({ request }) => told.push(request.headers));
    const posted = { accept: 'application/json', 'content-type': 'application/json', 'x-own': 'a' };
    const gotten = { accept: 'application/json' };
    expect(told).toEqual([posted, posted, gotten, gotten]);
  });

  test('does not repeat it when the time to send was over by then', async () => {
    let mayStillSend = true;
    const client = clientThat(() => {
      mayStillSend = false;
    });
    expect(await client.send({ method: 'POST', path: '/', body: {} }, () => mayStillSend)).toMatchObject({
      fault: { kind: 'withheld', sent: false },
    });
    expect(seen).toEqual(['Bearer 1']);
  });

  test('large answers to one customer that never end leave another of the same provider its room', async () => {
    const evil = clientThat(() => undefined, 'evil', 60_000);
    const slow = Promise.all(
      Array.from({ length: 12 }, () => evil.send({ method: 'GET', path: '/large/slow' })),
    );
    await expect.poll(() => seen.length).toBe(12);
    const good = clientThat(() => undefined, 'good', 10_000);
    const result = await good.send({ method: 'GET', path: '/large' });
    server.closeAllConnections();
    expect('answer' in result && result.answer.body.length).toBe(large.length);
    expect((await slow).every((one) => 'fault' in one && one.fault.kind === 'broken')).toBe(true);
  }, 30_000);
});

import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { parseAddressRules } from './address.ts';
import { sendHttp } from './client.ts';
import { createEgress } from './egress.ts';

describe('src/kit/http/silent-session', () => {
  let server: Http2SecureServer;
  const sockets: TLSSocket[] = [];
  const protocols = new Set<string>();

  beforeAll(async () => {
    server = createSecureServer({ ...certificate, allowHTTP1: true });
    server.on('secureConnection', (socket) => void sockets.push(socket));
    server.on('request', (request, response) => {
      protocols.add(request.httpVersion);
      // The first connection answers once and is silent from then on, as one behind a lost route is.
      const isSilent = request.socket.remotePort === sockets[0]?.remotePort && request.url !== '/first';
      if (!isSilent) response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  test('a provider that speaks HTTP/2 loses one call to a connection that falls silent, not all of them', async () => {
    const egress = createEgress({
      allow: parseAddressRules(['localhost']),
      connectTimeoutMs: 5_000,
      extraCa: certificate.cert,
    });
    const { port } = server.address() as AddressInfo;
    const send = (path: string) =>
      sendHttp(egress, { method: 'POST', url: `https://localhost:${port}${path}` }, { timeoutMs: 1_000 });
    expect(await send('/first')).toMatchObject({ answer: { status: 200 } });
    const ends: string[] = [];
    for (let i = 0; i < 5; i++) {
      for (const result of await Promise.all([1, 2, 3].map(() => send('/next'))))
        ends.push('answer' in result ? 'answer' : result.fault.kind);
    }
    expect(ends.toSorted()).toEqual([...Array.from({ length: 14 }, () => 'answer'), 'timeout']);
    expect([...protocols]).toEqual(['1.1']);
    await egress.destroy();
  });
});

import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { startForwardProxy, type ForwardProxy } from '../../../test/forward-proxy.ts';
import { parseAddressRules } from './address.ts';
import { sendHttp, type HttpResult } from './client.ts';
import { insideAddresses } from './egress-cases.fixture.ts';
import { createEgress, dialerOf, EgressRefused } from './egress.ts';
import { startNameServer, type NameServer } from './name-server.fixture.ts';

interface Seen {
  host: string | undefined;
  servername: string | false | null | undefined;
  rawHeaders: string[];
}

const publicAddress = '93.184.215.14';

describe('src/kit/http/tunnel', () => {
  const seen: Seen[] = [];
  let secure: Server;
  let plain: Server;
  let proxy: ForwardProxy;
  let names: NameServer;
  const opened: Dispatcher[] = [];

  beforeAll(async () => {
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      const { servername } = request.socket as TLSSocket;
      seen.push({ host: request.headers.host, servername, rawHeaders: request.rawHeaders });
      response.end('ok');
    };
    secure = createServer(certificate, serve);
    plain = createPlainServer(serve);
    for (const server of [secure, plain])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const portOf = (server: Server): number => (server.address() as AddressInfo).port;
    proxy = await startForwardProxy((authority) => portOf(authority.endsWith(':443') ? secure : plain));
    names = await startNameServer();
  });
  beforeEach(() => {
    seen.length = 0;
    proxy.asked.length = 0;
    proxy.behave('open');
  });
  afterAll(async () => {
    await Promise.all(opened.map((egress) => egress.destroy()));
    secure?.close();
    plain?.close();
    names?.close();
    await proxy?.close();
  });

  const open = (outboundProxy = proxy.url, allow: string[] = []): Dispatcher => {
    const egress = createEgress({
      allow: parseAddressRules(allow),
      connectTimeoutMs: 600,
      outboundProxy,
      extraCa: certificate.cert,
      resolve: names.resolve,
    });
    opened.push(egress);
    return egress;
  };
  const send = (egress: Dispatcher, url: string): Promise<HttpResult> =>
    sendHttp(egress, { method: 'GET', url }, { timeoutMs: 4_000 });

  test.each(Object.values(insideAddresses).flat())(
    'the address %s is refused before the proxy hears of it',
    async (address) => {
      const error = await new Promise((resolve) => {
        const target = { hostname: address, protocol: 'https:', port: '443' };
        dialerOf(open())(target, (...[failure]) => resolve(failure));
      });
      expect(error).toBeInstanceOf(EgressRefused);
      expect(proxy.asked).toEqual([]);
    },
  );

  test.each([['10.0.0.1'], [publicAddress, '127.0.0.1'], ['::1'], ['::ffff:169.254.169.254']])(
    'a name that resolves to %s is refused before the proxy hears of it',
    async (...set) => {
      names.say('inside.test', set);
      const result = await send(open(), 'https://inside.test/');
      expect(result).toMatchObject({ fault: { kind: 'refused', sent: false } });
      expect(proxy.asked).toEqual([]);
    },
  );

  test('the proxy is told the address that was checked; the provider is told its name', async () => {
    names.say('provider.test', [publicAddress], ['127.0.0.1']);
    expect(await send(open(), 'https://provider.test/')).toMatchObject({
      answer: { status: 200, body: 'ok' },
    });
    expect(proxy.asked).toEqual([`${publicAddress}:443`]);
    expect(seen).toMatchObject([{ host: 'provider.test', servername: 'provider.test' }]);
    // The next connection is checked anew.
    expect(await send(open(), 'https://provider.test/')).toMatchObject({ fault: { kind: 'refused' } });
  });

  test('a certificate of another name is refused', async () => {
    names.say('other.test', [publicAddress]);
    const result = await send(open(), 'https://other.test/');
    expect(result).toMatchObject({ fault: { kind: 'connect', sent: false } });
    expect(seen).toEqual([]);
  });

  test('a provider without TLS is reached through a tunnel as well, and by IPv6', async () => {
    names.say('plain.test', ['2606:4700::1111']);
    expect(await send(open(), 'http://plain.test/')).toMatchObject({ answer: { status: 200 } });
    expect(proxy.asked).toEqual(['[2606:4700::1111]:80']);
    expect(seen).toMatchObject([{ host: 'plain.test' }]);
  });

  test('what an operator allows by name may be private', async () => {
    names.say('inside.test', ['10.0.0.1']);
    expect(await send(open(proxy.url, ['inside.test']), 'http://inside.test/')).toMatchObject({ answer: {} });
    expect(proxy.asked).toEqual(['10.0.0.1:80']);
  });

  test('repeated headers stay repeated', async () => {
    names.say('provider.test', [publicAddress]);
    const headers = ['Accept', 'a', 'X-One', '1', 'Accept', 'b'];
    await new Promise<void>((resolve, reject) => {
      open().dispatch(
        { origin: 'https://provider.test', path: '/', method: 'GET', headers },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: () => undefined,
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
    expect(seen[0]?.rawHeaders.slice(-6)).toEqual(headers);
  });

  test('the proxy gets the user and password of its URL', async () => {
    names.say('provider.test', [publicAddress]);
    await send(open(proxy.url.replace('//', '//ada:p%40ss@')), 'https://provider.test/');
    expect(proxy.credentials()).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  });

  test.each(['hang', { status: 403 }, { status: 407 }, { status: 502 }] as const)(
    'a proxy that answers with %j: nothing was sent, and each address was tried',
    async (how) => {
      names.say('many.test', [publicAddress, '1.1.1.1']);
      proxy.behave(how);
      const startedAt = Date.now();
      expect(await send(open(), 'https://many.test/')).toMatchObject({
        fault: { kind: 'connect', sent: false },
      });
      expect(proxy.asked).toEqual([`${publicAddress}:443`, '1.1.1.1:443']);
      expect(Date.now() - startedAt).toBeLessThan(2_000);
    },
  );
});

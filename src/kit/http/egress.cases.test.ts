import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isPublicAddress, parseAddressRules } from './address.ts';
import { sendHttp, type HttpResult } from './client.ts';
import {
  closedPorts,
  insideAddresses,
  insideNames,
  insideUrls,
  loopbackUrls,
  malformedUrls,
  publicAddresses,
  rawLoopbackHosts,
} from './egress-cases.fixture.ts';
import { createEgress, databaseDialerOf, dialerOf, EgressRefused } from './egress.ts';
import { startNameServer, type NameServer } from './name-server.fixture.ts';

/** Counts connections, not requests: a byte less would be too late. */
interface Listener {
  server: Server;
  connections: number;
}

async function listen(host: string, port = 0): Promise<Listener> {
  const server = createServer((_request, response) => response.end(host));
  const listener: Listener = { server, connections: 0 };
  server.on('connection', () => (listener.connections += 1));
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, done);
  });
  return listener;
}

describe('src/kit/http/egress.cases', () => {
  let honeypot: Listener;
  let honeypot6: Listener | undefined;
  let honest: Listener;
  let names: NameServer;
  let port: number;
  let closed: Dispatcher;
  let resolving: Dispatcher;
  let careless: Dispatcher;
  const opened: Dispatcher[] = [];

  // 127.0.0.2 stands for the public internet: an operator's rule allows it.
  const open = (allow: string[], resolve?: NameServer['resolve']): Dispatcher => {
    const egress = createEgress({
      allow: parseAddressRules(allow),
      connectTimeoutMs: 2_000,
      // The port of the honeypot is open, so that only the address can be the reason of a refusal.
      ports: [80, 443, port],
      ...(resolve ? { resolve } : {}),
    });
    opened.push(egress);
    return egress;
  };

  beforeAll(async () => {
    honeypot = await listen('127.0.0.1');
    port = (honeypot.server.address() as AddressInfo).port;
    honeypot6 = await listen('::1', port).catch(() => undefined);
    honest = await listen('127.0.0.2', port);
    names = await startNameServer();
    closed = open([]);
    resolving = open(['127.0.0.2/32'], names.resolve);
    careless = open(['0.0.0.0/0', '::/0']);
  });
  afterAll(async () => {
    await Promise.all(opened.map((egress) => egress.destroy()));
    for (const listener of [honeypot, honeypot6, honest]) {
      listener?.server.closeAllConnections();
      listener?.server.close();
    }
    names?.close();
  });

  const hits = (): number => honeypot.connections + (honeypot6?.connections ?? 0);
  let expectedHits = 0;
  afterEach(() => {
    if (hits() !== expectedHits) throw new Error('what listens on loopback was dialled');
  });

  const send = (egress: Dispatcher, url: string): Promise<HttpResult> =>
    sendHttp(egress, { method: 'GET', url }, { timeoutMs: 4_000 });
  const dial = (egress: Dispatcher, hostname: string): Promise<Socket | Error> =>
    new Promise((done) => {
      const target = { hostname, protocol: 'http:', port: String(port) };
      dialerOf(egress)?.(target, (error, socket) => done(error ?? socket));
    });
  const dialDatabase = (egress: Dispatcher, hostname: string, at = port): Promise<Socket | Error> =>
    new Promise((done) => {
      const target = { hostname, protocol: 'http:', port: String(at) };
      databaseDialerOf(egress).dial(target, (error, socket) => done(error ?? socket));
    });
  const refused = (why: RegExp) => ({
    fault: { kind: 'refused', sent: false, message: expect.stringMatching(why) },
  });
  const address = /not a public address/;

  describe('an address', () => {
    const inside = Object.entries(insideAddresses).flatMap(([why, list]) =>
      list.map((each): [string, string] => [why, each]),
    );

    test.each(inside)('%s: %s is neither public nor dialled', async (_why, given) => {
      expect(isPublicAddress(given)).toBe(false);
      expect(await dial(closed, given)).toBeInstanceOf(EgressRefused);
      expect(await dialDatabase(closed, given)).toBeInstanceOf(EgressRefused);
    });

    test.each(publicAddresses)('%s is public', (given) => {
      expect(isPublicAddress(given)).toBe(true);
    });
  });

  describe('a URL', () => {
    test.each([...loopbackUrls, ...insideUrls])('%s is refused for its address', async (form) => {
      expect(await send(closed, form.replace('@', String(port)))).toMatchObject(refused(address));
    });

    test.each(malformedUrls)('%s is refused as it stands', async (form) => {
      const url = form.replace('@@', String(port));
      expect(await send(closed, url)).toMatchObject(refused(/user information|not an http/));
      expect(await send(careless, url)).toMatchObject({ fault: { kind: 'refused' } });
    });

    test.each(closedPorts)('port %i of a public address is refused', async (closedPort) => {
      expect(await send(closed, `http://1.1.1.1:${closedPort}/`)).toMatchObject(refused(/^port \d+ of/));
      expect(await send(closed, `https://provider.test:${closedPort}/`)).toMatchObject(refused(/^port/));
    });
  });

  describe('a database', () => {
    test.each([0, 22, 25, 80, 443, 1_023])('port %i of a public address is refused', async (at) => {
      expect(await dialDatabase(closed, '1.1.1.1', at)).toMatchObject({
        message: expect.stringMatching(/port \d+ of 1\.1\.1\.1 is not/) as string,
      });
    });

    test('a name that resolves to what is not public is refused, whatever its port', async () => {
      names.say('warehouse.test', ['127.0.0.1']);
      expect(await dialDatabase(resolving, 'warehouse.test')).toBeInstanceOf(EgressRefused);
    });

    test('a port that no call over HTTP may take is dialled', async () => {
      names.say('tables.test', ['127.0.0.2']);
      const other = createEgress({
        allow: parseAddressRules(['127.0.0.2/32']),
        connectTimeoutMs: 2_000,
        resolve: names.resolve,
      });
      opened.push(other);
      expect(await dial(other, 'tables.test')).toBeInstanceOf(EgressRefused);
      const socket = await dialDatabase(other, 'tables.test');
      expect(socket).toHaveProperty('remoteAddress', '127.0.0.2');
      (socket as Socket).destroy();
    });
  });

  describe('a name', () => {
    test.each(Object.entries(insideNames))('%s that resolves to %j is refused', async (name, set) => {
      names.say(name, set);
      expect(await send(resolving, `http://${name}:${port}/`)).toMatchObject(refused(address));
      expect(names.asked(name)).toBe(2);
    });

    test.each(Object.entries(insideNames))(
      '%s with a good address before %j is refused',
      async (name, set) => {
        names.say(`mixed-${name}`, ['127.0.0.2', ...set]);
        expect(await send(resolving, `http://mixed-${name}:${port}/`)).toMatchObject(refused(address));
      },
    );

    test.each(rawLoopbackHosts)('%s is refused where no URL parser stands before', async (host) => {
      expect(await dial(closed, host)).toBeInstanceOf(EgressRefused);
    });

    test('one that has only good addresses is dialled there', async () => {
      names.say('good.test', ['127.0.0.2']);
      const before = honest.connections;
      expect(await send(resolving, `http://good.test:${port}/`)).toMatchObject({
        answer: { body: '127.0.0.2' },
      });
      expect(honest.connections).toBe(before + 1);
    });

    test('one that is not known is no refusal, and nothing was sent', async () => {
      expect(await send(resolving, `http://nowhere.test:${port}/`)).toMatchObject({
        fault: { kind: 'connect', sent: false },
      });
    });

    test('rebinding: what was checked is dialled, and a later answer is checked anew', async () => {
      names.say('rebound.test', ['127.0.0.2'], ['127.0.0.1']);
      const fresh = () => open(['127.0.0.2/32'], names.resolve);
      const url = `http://rebound.test:${port}/`;
      expect(await send(fresh(), url)).toMatchObject({ answer: { body: '127.0.0.2' } });
      // Both kinds of address, once each: there was no second question between the check and the connection.
      expect(names.asked('rebound.test')).toBe(2);
      expect(await send(fresh(), url)).toMatchObject(refused(address));
      expect(names.asked('rebound.test')).toBe(4);
    });
  });

  describe('an allowed', () => {
    test.each([
      ['127.0.0.2', 'http://127.0.0.2:@/'],
      ['127.0.0.2:@', 'http://127.0.0.2:@/'],
      ['127.0.0.0/30', 'http://127.0.0.2:@/'],
      ['allowed.test', 'http://allowed.test:@/'],
      ['allowed.test:@', 'http://ALLOWED.test:@/'],
    ])('%s is dialled as %s', async (entry, url) => {
      names.say('allowed.test', ['127.0.0.2']);
      const egress = open([entry.replace('@', String(port))], names.resolve);
      expect(await send(egress, url.replace('@', String(port)))).toMatchObject({ answer: { status: 200 } });
    });

    test.each([
      ['127.0.0.2', 'http://127.0.0.1:@/'],
      ['127.0.0.1:1', 'http://127.0.0.1:@/'],
      ['127.0.0.2/32', 'http://127.0.0.1:@/'],
      ['allowed.test', 'http://not.allowed.test:@/'],
      ['allowed.test', 'http://allowed.test.:@/'],
      ['127.0.0.1', 'http://sly.test:@/'],
    ])('%s does not open %s', async (entry, url) => {
      for (const name of ['not.allowed.test', 'allowed.test', 'sly.test']) names.say(name, ['127.0.0.1']);
      const egress = open([entry], names.resolve);
      expect(await send(egress, url.replace('@', String(port)))).toMatchObject(refused(address));
    });

    test('an IPv6 address is allowed in brackets', () => {
      const rules = parseAddressRules(['[::1]', '[fd00::1]:8080']);
      expect([rules.allows('::1', 5), rules.allows('fd00::1', 8080), rules.allows('fd00::1', 80)]).toEqual([
        true,
        true,
        false,
      ]);
    });
  });

  describe('with every address allowed (the negative control)', () => {
    test.each(loopbackUrls)('%s reaches what listens on loopback', async (form) => {
      const before = hits();
      const egress = open(['0.0.0.0/0', '::/0']);
      expect(await send(egress, form.replace('@', String(port)))).toMatchObject({ answer: { status: 200 } });
      expect(hits()).toBe(before + 1);
      expectedHits = hits();
    });

    test.each(rawLoopbackHosts)('%s reaches what listens on loopback', async (host) => {
      const before = hits();
      const socket = await dial(careless, host);
      expect(socket).not.toBeInstanceOf(Error);
      (socket as Socket).destroy();
      await expect.poll(hits).toBe(before + 1);
      expectedHits = hits();
    });
  });
});

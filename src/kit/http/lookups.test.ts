import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAddressRules } from './address.ts';
import { sendHttp } from './client.ts';
import { createEgress } from './egress.ts';
import { createLookups, limitsOf, type Resolve } from './lookups.ts';

describe('src/kit/http/lookups', () => {
  const threads = 8;
  const limits = { ...limitsOf(2 * threads), timeoutMs: 300, keptMs: 60_000, failureKeptMs: 0 };
  /** Names that were asked for, and those whose name servers say nothing. */
  let asked: string[] = [];
  let silent = (_name: string): boolean => false;
  let addresses = ['127.0.0.2'];
  const system: Resolve = (hostname, _options, callback) => {
    // As in the system's threads: who is not answered keeps one, and whoever comes when there is none waits.
    if (asked.filter(silent).length >= threads) return;
    asked.push(hostname);
    if (silent(hostname)) return;
    setImmediate(
      callback,
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  const ask = (resolve: Resolve, name: string) =>
    new Promise((done) => resolve(name, { all: true }, (error, found) => done(error?.message ?? found)));

  beforeEach(() => {
    asked = [];
    silent = (name) => name.endsWith('evil.example');
    addresses = ['127.0.0.2'];
  });

  test('names of a domain that nobody answers for keep no other from being looked up', async () => {
    const resolve = createLookups(system, limits);
    const hanging = Array.from({ length: 100 }, (_, n) => ask(resolve, `a${n}.evil.example`));
    expect(await ask(resolve, 'api.provider.example')).toEqual([{ address: '127.0.0.2', family: 4 }]);
    expect(await Promise.all(hanging)).toEqual(
      hanging.map((_, n) => `a${n}.evil.example was not looked up within 300 ms`),
    );
    expect(asked.filter(silent)).toHaveLength(limits.atOnceOfNewInDomain);
    expect(await ask(resolve, 'other.example')).toEqual([{ address: '127.0.0.2', family: 4 }]);
  });

  test('names of a domain that answered so far, and fall silent together, keep no other from being looked up', async () => {
    const resolve = createLookups(system, { ...limits, keptMs: 0 });
    silent = () => false;
    const hosts = Array.from({ length: 100 }, (_, n) => `a${n}.evil.example`);
    await Promise.all(hosts.map((host) => ask(resolve, host)));
    asked = [];
    silent = (name) => name.endsWith('evil.example');
    const hanging = hosts.map((host) => ask(resolve, host));
    expect(await ask(resolve, 'api.provider.example')).toEqual([{ address: '127.0.0.2', family: 4 }]);
    await Promise.all(hanging);
    expect(asked.filter(silent)).toHaveLength(limits.atOnceOfDomain);
  });

  test('names of many domains that nobody answers for leave room to those that answered lately', async () => {
    const resolve = createLookups(system, { ...limits, keptMs: 0 });
    await ask(resolve, 'api.provider.example');
    silent = (name) => name.startsWith('evil');
    const hanging = Array.from({ length: 100 }, (_, n) => ask(resolve, `evil${n}.example${n}`));
    expect(await ask(resolve, 'api.provider.example')).toEqual([{ address: '127.0.0.2', family: 4 }]);
    await Promise.all(hanging);
    expect(asked.filter(silent)).toHaveLength(limits.atOnceOfNew);
  });

  test('one name that many ask for is looked up once, and again when its answer is too old', async () => {
    const resolve = createLookups(system, limits);
    await Promise.all(Array.from({ length: 50 }, () => ask(resolve, 'api.provider.example')));
    await ask(resolve, 'api.provider.example');
    expect(asked).toEqual(['api.provider.example']);
    const forgetful = createLookups(system, { ...limits, keptMs: 0 });
    await ask(forgetful, 'api.provider.example');
    await ask(forgetful, 'api.provider.example');
    expect(asked).toHaveLength(3);
  });

  describe('with an egress', () => {
    let server: Server;
    beforeEach(async () => {
      server = createServer((request, response) => response.end(request.socket.localAddress));
      await new Promise<void>((done) => server.listen(0, done));
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });

    test('an answer that is remembered is the one that is dialled, and is checked each time', async () => {
      const resolve = createLookups(system, limits);
      const { port } = server.address() as AddressInfo;
      const send = async (allowed: string) => {
        const egress = createEgress({
          allow: parseAddressRules([allowed]),
          connectTimeoutMs: 2_000,
          ports: [port],
          resolve,
        });
        const url = `http://api.provider.example:${port}/`;
        const result = await sendHttp(egress, { method: 'GET', url }, { timeoutMs: 2_000 });
        await egress.close();
        return result;
      };
      const dialled = { answer: { body: expect.stringContaining('127.0.0.2') as string } };
      const rule = '127.0.0.2/32';
      expect(await send(rule)).toMatchObject(dialled);
      addresses = ['127.0.0.3'];
      expect(await send(rule)).toMatchObject(dialled);
      expect(await send('127.0.0.3/32')).toMatchObject({ fault: { kind: 'refused', sent: false } });
      expect(asked).toHaveLength(1);
    });
  });
});

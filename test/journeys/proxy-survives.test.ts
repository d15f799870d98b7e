import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificate } from '../certificate.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startRawPlatform, type RawPlatform } from '../raw-customer.ts';
import { rawExchange, startRawProvider, type RawProvider } from '../raw-message.ts';

describe('test/journeys/proxy-survives', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  /** Takes connections and never says a word. */
  let tarpit: Server;
  let dialled = 0;
  let raw: RawPlatform;

  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    tarpit = createServer((socket) => {
      dialled += 1;
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => tarpit.listen(0, '127.0.0.1', resolve));
    raw = await startRawPlatform(
      test.url,
      provider.url,
      { SVC_EXTRA_CA: certificate.cert, SVC_CONNECT_MS: '600', SVC_PROVIDER_CALL_MS: '2000' },
      { sentry: `https://127.0.0.1:${(tarpit.address() as AddressInfo).port}` },
    );
  });
  beforeEach(() => provider.reset());
  afterEach(async () => {
    const { platform } = raw;
    if (platform.process().exitCode !== null || /uncaught|unhandled/i.test(platform.said()))
      throw new Error(`the process did not survive: ${platform.said()}`);
    provider.reset();
    const plain = await rawExchange(platform.proxy, head('GET /plain'));
    if (plain.message?.startLine !== 'HTTP/1.1 200 OK') throw new Error('the proxy does not work any more');
  });
  afterAll(async () => {
    await raw?.platform.stop();
    await provider?.close();
    tarpit?.close();
    await test?.drop();
  });

  function head(line: string, more = '', of = 'iterable'): string {
    const ours = Object.entries(raw.oursOf(of)).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${line} HTTP/1.1\r\nHost: x\r\n${ours.join('')}${more}\r\n`;
  }
  async function dial(): Promise<Socket> {
    const socket = connect(Number(new URL(raw.platform.proxy).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it.each([
    ['with a length', 'Content-Length: 2\r\n', 'ab'],
    ['with a length of more than is kept', 'Content-Length: 1100000\r\n', 'a'.repeat(1_100_000)],
    ['with a length and Expect', 'Content-Length: 2\r\nExpect: 100-continue\r\n', 'ab'],
    ['without a body', '', ''],
    ['without a body and with Expect', 'Expect: 100-continue\r\n', ''],
  ])('a request %s may announce trailers, although it can have none', async (_name, headers, body) => {
    const { message } = await rawExchange(
      raw.platform.proxy,
      head('POST /trailer', `Trailer: X-Sum\r\n${headers}`) + body,
    );
    expect(message?.startLine).toBe('HTTP/1.1 200 OK');
    expect(provider.seen.map((seen) => seen.body.toString())).toEqual([body]);
  });

  it.each([
    ['Expect and a length', 'Expect: 100-continue\r\nContent-Length: 5\r\n', 'ab'],
    ['Expect and chunks', 'Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n', '2\r\nab\r\n'],
    ['trailers', 'Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n', '2\r\nab\r\n'],
    ['chunks', 'Transfer-Encoding: chunked\r\n', '2\r\nab\r\n'],
    ['no body', '', ''],
  ])('a caller with %s may leave while the provider is dialled', async (_name, headers, body) => {
    const before = dialled;
    const socket = await dial();
    socket.write(head('PUT /tarpit', headers, 'sentry') + body);
    await expect.poll(() => dialled).toBe(before + 1);
    socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 900));
  });

  it.each([
    ['Expect and a length', 'Expect: 100-continue\r\nContent-Length: 5\r\n', 'ab'],
    ['trailers', 'Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n', '2\r\nab\r\n'],
  ])('a provider that tarpits a call with %s is given up', async (_name, headers, body) => {
    const answer = await rawExchange(raw.platform.proxy, head('PUT /tarpit', headers, 'sentry') + body);
    expect(answer.message?.startLine).toBe('HTTP/1.1 504 Gateway Timeout');
  });
});

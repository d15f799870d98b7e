import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import type { Platform } from '../platform.ts';
import { startRawPlatform } from '../raw-customer.ts';
import { rawExchange, startRawProvider, type RawMessage, type RawProvider } from '../raw-message.ts';

const idleMs = 700;
const totalMs = 2_500;

describe('test/journeys/proxy-wire', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  let platform: Platform;
  let ours: string;

  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    const raw = await startRawPlatform(test.url, provider.url, {
      SVC_PROVIDER_CALL_MS: String(idleMs),
      SVC_PROXY_CALL_MS: String(totalMs),
    });
    platform = raw.platform;
    ours = Object.entries(raw.ours)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await platform?.stop();
    await provider?.close();
    await test?.drop();
  });

  const send = (bytes: string, options?: { method?: string; timeoutMs?: number }) =>
    rawExchange(platform.proxy, Buffer.from(bytes, 'latin1'), options);
  const problemOf = (message: RawMessage | undefined): [status: string, code: string | undefined] => [
    message?.startLine.split(' ')[1] ?? '',
    message?.headers.find(([name]) => name.toLowerCase() === 'x-svc-problem')?.[1],
  ];
  const expectProblem = (message: RawMessage | undefined, status: number, code: string): void => {
    expect(problemOf(message)).toEqual([String(status), code]);
    expect(JSON.parse(message!.body.toString())).toMatchObject({ code, status });
  };
  const dial = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(platform.proxy).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const head = (line: string, more = ''): string => `${line} HTTP/1.1\r\nHost: x\r\n${ours}${more}\r\n`;

  it.each([
    ['length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['chunks and length', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n', 'abcdef'],
    ['two equal lengths', 'Content-Length: 5\r\nContent-Length: 5\r\n', 'abcde'],
    ['a list of lengths', 'Content-Length: 5, 5\r\n', 'abcde'],
    ['a signed length', 'Content-Length: +5\r\n', 'abcde'],
    ['a hexadecimal length', 'Content-Length: 0x5\r\n', 'abcde'],
    ['an empty length', 'Content-Length:\r\n', ''],
    ['a coding before chunked', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['another coding', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['identity', 'Transfer-Encoding: identity\r\nContent-Length: 5\r\n', 'abcde'],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\n', '0\r\n\r\n'],
    ['a folded line', 'X-A: 1\r\n 2\r\n', ''],
    ['a bare line feed', 'X-A: 1\nX-B: 2\r\n', ''],
    ['a bare carriage return', 'X-A: 1\rX-B: 2\r\n', ''],
    ['a NUL', 'X-A: 1\0\r\n', ''],
    ['a name with a space', 'X A: 1\r\n', ''],
    ['a chunk size that is none', 'Transfer-Encoding: chunked\r\n', 'zz\r\nabc\r\n0\r\n\r\n'],
    ['a chunk without its end', 'Transfer-Encoding: chunked\r\n', '3\r\nabcdefgh\r\n0\r\n\r\n'],
    ['a chunk size with a sign', 'Transfer-Encoding: chunked\r\n', '-1\r\nabc\r\n0\r\n\r\n'],
  ])('%s: refused, and the provider never sees a second request', async (_name, headers, body) => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await send(head('POST /first', headers) + body + smuggled);
    expect(problemOf(answer.message)[0]).toBe('400');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(provider.seen.filter(({ startLine }) => startLine.includes('smuggled'))).toEqual([]);
    expect(provider.seen.length).toBeLessThanOrEqual(1);
  });

  it.each([
    '*',
    'http://evil.example/x',
    'https:evil.example',
    '@evil.example/x',
    ':80@evil.example/',
    '?q=1',
    '\\\\evil.example/x',
    'evil.example:80',
  ])('the target %s is refused and nothing is dialled', async (target) => {
    const { message } = await send(head(`GET ${target}`));
    expect(problemOf(message)).toEqual(['400', 'proxy-request-invalid']);
    expect(provider.seen).toEqual([]);
  });

  it('CONNECT, TRACE and WebSockets are refused with a problem; an offer of another protocol is declined', async () => {
    expectProblem((await send(head('CONNECT evil.example:443'))).message, 405, 'proxy-method-refused');
    expectProblem((await send(head('TRACE /x'))).message, 405, 'proxy-method-refused');
    const upgrade = (to: string): string => `Connection: Upgrade\r\nUpgrade: ${to}\r\n`;
    expectProblem((await send(head('GET /x', upgrade('websocket')))).message, 501, 'proxy-upgrade-refused');
    expect(provider.seen).toEqual([]);
    const { message } = await send(head('GET /x', upgrade('h2c')) + head('GET /behind'));
    expect(problemOf(message)[0]).toBe('200');
    // What stood behind it in one piece is lost.
    expect(message?.headers).toContainEqual(['Connection', 'close']);
  });

  it('a control header that is repeated is refused', async () => {
    for (const name of ['x-api-key', 'X-Svc-Project-Id', 'x-svc-installation-id', 'x-svc-proxy-version'])
      expectProblem((await send(head('GET /x', `${name}: again\r\n`))).message, 400, 'proxy-request-invalid');
    expect(provider.seen).toEqual([]);
  });

  it('headers that are too large are refused with a problem', async () => {
    const { message } = await send(head('GET /x', `X-Long: ${'x'.repeat(20_000)}\r\n`));
    expectProblem(message, 431, 'headers-too-large');
    expect(provider.seen).toEqual([]);
  });

  it('100 Continue comes from the provider, before the body is sent', async () => {
    provider.answerEarly('HTTP/1.1 100 Continue\r\n\r\n');
    const socket = await dial();
    socket.write(head('PUT /x', 'Expect: 100-continue\r\nContent-Length: 5\r\n'));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(provider.seen).toEqual([]);
    socket.write('abcde');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(provider.seen[0]).toMatchObject({ startLine: 'PUT /x HTTP/1.1', body: Buffer.from('abcde') });
    expect(provider.seen[0]!.headers).toContainEqual(['Expect', '100-continue']);
    socket.destroy();
  });

  it('nothing that stands behind a request with Expect is done', async () => {
    provider.answer((socket) =>
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 200),
    );
    const socket = await dial();
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const expecting = head('POST /first', 'Expect: 100-continue\r\nContent-Length: 5\r\n');
    socket.write(`${expecting}abcde${head('POST /behind', 'Content-Length: 0\r\n')}`);
    await expect.poll(() => received).toMatch(/ 200 OK\r\n[^]*Connection: close/i);
    await expect.poll(() => socket.readableEnded).toBe(true);
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(provider.seen.map(({ startLine }) => startLine)).toEqual(['POST /first HTTP/1.1']);
    socket.destroy();
  });

  it('a provider that refuses instead of 100 Continue is passed on, and the body is never asked for', async () => {
    provider.answerEarly('HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n');
    const expecting = 'Expect: 100-continue\r\nContent-Length: 5\r\n';
    const refused = await send(head('PUT /x', expecting));
    expect(refused.message?.startLine).toBe('HTTP/1.1 417 No');
    expect(refused.message?.headers).toContainEqual(['Connection', 'close']);
    expect(refused.interim).toEqual([]);
    const wrongKey = head('PUT /x', expecting).replace(/x-api-key: [^\r]+/, 'x-api-key: wrong');
    const unknown = await send(wrongKey);
    expect(unknown.interim).toEqual([]);
    expect(problemOf(unknown.message)).toEqual(['401', 'unauthenticated']);
    expectProblem((await send(head('PUT /x', 'Expect: miracles\r\n'))).message, 400, 'proxy-request-invalid');
  });

  it('an answer that comes before the body ends reaches the caller, who may go on sending', async () => {
    const part = Buffer.alloc(256 * 1024, 'x');
    for (const framing of [`Content-Length: ${part.length * 40}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
      provider.answerEarly('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
      const isChunked = framing.startsWith('T');
      const socket = await dial();
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.write(head('POST /x', framing));
      for (let i = 0; i < 40; i++) {
        if (isChunked) socket.write(`${part.length.toString(16)}\r\n`);
        socket.write(part);
        if (isChunked) socket.write('\r\n');
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      if (isChunked) socket.write('0\r\n\r\n');
      await expect.poll(() => received, { timeout: 3_000 }).toMatch(/^HTTP\/1\.1 413 Too Large[^]*big$/);
      // The connection goes on with the next request.
      received = '';
      provider.reset();
      socket.write(head('GET /next'));
      await expect.poll(() => received, { timeout: 3_000 }).toMatch(/^HTTP\/1\.1 200 OK/);
      socket.destroy();
    }
  });

  it('a caller who leaves ends the call to the provider within a second', async () => {
    provider.answer(() => undefined);
    const quiet = await dial();
    quiet.write(head('GET /never'));
    await expect.poll(() => provider.seen.length).toBe(1);
    const uploading = await dial();
    uploading.write(`${head('PUT /upload', 'Transfer-Encoding: chunked\r\n')}3\r\nabc\r\n`);
    await expect.poll(() => provider.open()).toBeGreaterThanOrEqual(2);
    const leftAt = Date.now();
    quiet.destroy();
    uploading.destroy();
    await expect.poll(() => provider.open(), { timeout: 2_000, interval: 10 }).toBe(0);
    expect(Date.now() - leftAt).toBeLessThan(500);
  });

  it.each([
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a bare carriage return in a header', 'HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\nContent-Length: 0\r\n\r\n'],
    ['another transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40_000)}`],
    ['a flood of interim answers', 'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'.repeat(500)],
    ['no HTTP at all', '220 smtp.example ready\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
  ])('a provider that answers with %s: 502, and the connection is not used again', async (_name, bytes) => {
    provider.answer((socket) => void socket.write(bytes));
    expectProblem((await send(head('GET /x'))).message, 502, 'provider-unreachable');
    await expect.poll(() => provider.open()).toBe(0);
    provider.answer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect((await send(head('GET /y'))).message?.body.toString()).toBe('ok');
  });

  it('bytes after an answer are not taken for another answer', async () => {
    provider.answer(
      (socket) =>
        void socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
        ),
    );
    for (let i = 0; i < 3; i++) expect((await send(head('GET /x'))).message?.body.toString()).toBe('ok');
  });

  it('an interim answer of the provider does not disturb the final one', async () => {
    provider.answer(
      'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    );
    expect((await send(head('GET /x'))).message).toMatchObject({
      startLine: 'HTTP/1.1 200 OK',
      body: Buffer.from('ok'),
    });
  });

  it('a provider that is silent is given up: before its answer with 504, within it by cutting it off', async () => {
    provider.answer(() => undefined);
    const startedAt = Date.now();
    expectProblem((await send(head('GET /silent'))).message, 504, 'provider-timeout');
    expect(Date.now() - startedAt).toBeLessThan(idleMs + 1_500);
    provider.answer((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'));
    const cut = await send(head('GET /half'));
    expect(cut.message).toBeUndefined();
    expect(cut.bytes.toString()).toMatch(/abc$/);
  });

  it('a call that never ends is cut off', async () => {
    provider.answer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 100);
      socket.on('close', () => clearInterval(timer));
    });
    const startedAt = Date.now();
    const cut = await send(head('GET /drip'));
    expect(cut.message).toBeUndefined();
    expect(Date.now() - startedAt).toBeGreaterThan(totalMs - 200);
    expect(Date.now() - startedAt).toBeLessThan(totalMs + 1_500);
    await expect.poll(() => provider.open()).toBe(0);
  });

  it('pipelined requests are answered in order', async () => {
    provider.answer((socket, { startLine }) => {
      const name = startLine.split(' ')[1] ?? '';
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`);
    });
    const socket = await dial();
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(head('GET /one') + head('GET /two') + head('GET /three'));
    await expect.poll(() => received.match(/\/(one|two|three)/g)).toEqual(['/one', '/two', '/three']);
    socket.destroy();
  });
});

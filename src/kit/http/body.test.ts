import { connect, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { bodyBudget } from './body-budget.ts';
import { createHttpServer, type HttpServer } from './server.ts';

const mebibyte = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function arrayBuffers(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

describe('kit/http/body', () => {
  let server: HttpServer;
  let dialled: { socket: Socket; answer: string }[];

  beforeEach(async () => {
    dialled = [];
    server = createHttpServer({
      log: createLog('silent'),
      bodyLimitBytes: 10 * mebibyte,
      trustedProxies: [],
    });
    const config: object = { scopes: 'public' };
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      request.isKnown = true;
    };
    server.post('/known', { onRequest }, async () => ({}));
    server.post('/unguarded', async () => ({}));
    server.post('/anybody', { config }, async () => ({}));
    server.post('/anybody/more', { config, bodyLimit: mebibyte }, async () => ({}));
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(async () => {
    for (const { socket } of dialled) socket.destroy();
    await server.close();
  });

  /** Begins a body and does not end it. */
  function begin(path: string, announced: number, sent: string | Buffer): { socket: Socket; answer: string } {
    const { port } = server.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const one = { socket, answer: '' };
    dialled.push(one);
    socket.on('data', (chunk) => (one.answer += chunk.toString()));
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${announced}\r\n\r\n`,
    );
    socket.write(sent);
    return one;
  }

  test(
    'bodies that do not end use up the room for large ones; small ones still pass',
    { timeout: 90_000 },
    async () => {
      const text = Buffer.from(`"${'a'.repeat(9 * mebibyte)}`);
      for (let count = 0; count < 20; count += 1) begin('/known', 10 * mebibyte, text);
      await expect
        .poll(() => dialled.filter(({ answer }) => answer.includes('"overloaded"')).length, {
          timeout: 60_000,
        })
        .toBeGreaterThanOrEqual(6);
      const refused = dialled.find(({ answer }) => answer !== '')?.answer ?? '';
      expect(refused).toMatch(/^HTTP\/1.1 503 /);
      expect(refused).toMatch(/retry-after: 2/i);
      await expect.poll(() => bodyBudget.used()).toBeGreaterThan(64 * mebibyte);
      expect(bodyBudget.used()).toBeLessThanOrEqual(128 * mebibyte);
      const small = begin('/known', 2, '{}');
      await expect.poll(() => small.answer).toContain(' 200 ');
      for (const { socket } of dialled) socket.destroy();
      await expect.poll(() => bodyBudget.used()).toBe(0);
      const large = begin('/known', text.length + 1, Buffer.concat([text, Buffer.from('"')]));
      await expect.poll(() => large.answer).toContain(' 200 ');
      expect(bodyBudget.used()).toBe(0);
    },
  );

  test.each([
    ['is refused for its values', `[${'1,'.repeat(100_000)}`, ' 400 '],
    ['is no JSON', `${' '.repeat(299_999)}}`, ' 400 '],
    ['is read', `${' '.repeat(299_998)}{}`, ' 200 '],
    ['begins with a byte order mark', `\uFEFF${' '.repeat(299_995)}{}`, ' 200 '],
  ])('a body that %s holds no room', async (_, body, status) => {
    const one = begin('/known', 300_000, body);
    await expect.poll(() => one.answer).toContain(status);
    expect(bodyBudget.used()).toBe(0);
  });

  test('what came of a refused body is let go, though its caller stays', { timeout: 30_000 }, async () => {
    const before = arrayBuffers();
    const sent = Buffer.concat([Buffer.alloc(9 * mebibyte, ' '), Buffer.from(`[${'1,'.repeat(50_000)}`)]);
    for (let count = 1; count <= 10; count += 1) {
      const one = begin('/known', 10 * mebibyte, sent);
      await expect.poll(() => one.answer).toContain(' 400 ');
    }
    expect(arrayBuffers() - before).toBeLessThan(50 * mebibyte);
  });

  test('a body that comes too late holds no room, though its caller stays', { timeout: 20_000 }, async () => {
    Object.assign(server.server, { headersTimeout: 100, requestTimeout: 200 });
    const one = begin('/known', 300_000, ' '.repeat(200_000));
    await expect.poll(() => bodyBudget.used()).toBe(200_000);
    await expect.poll(() => one.answer).toContain(' 408 ');
    await expect.poll(() => bodyBudget.used()).toBe(0);
  });

  test('a body that anybody may send is short', async () => {
    for (const path of ['/anybody', '/anybody/more']) {
      const long = begin(path, 17 * 1024, '');
      await expect.poll(() => long.answer).toContain(' 413 ');
      const short = begin(path, 16 * 1024, `${' '.repeat(16 * 1024 - 2)}{}`);
      await expect.poll(() => short.answer).toContain(' 200 ');
    }
  });

  test('bodies of callers whom nobody knows take no room of known ones, whatever their route says', async () => {
    const text = Buffer.from(`"${'a'.repeat(9 * mebibyte)}`);
    for (let count = 0; count < 4; count += 1) begin('/unguarded', 10 * mebibyte, text);
    await expect
      .poll(() => dialled.filter(({ answer }) => answer.includes('"overloaded"')).length, { timeout: 20_000 })
      .toBe(3);
    expect(bodyBudget.used()).toBeLessThanOrEqual(16 * mebibyte);
  });
});

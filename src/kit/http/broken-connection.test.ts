import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { createHttpServer, type HttpServer } from './server.ts';

describe('kit/http/broken-connection', () => {
  let server: HttpServer;
  const block = Buffer.alloc(64 * 1024, 'b');

  beforeAll(async () => {
    server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 10_000, trustedProxies: [] });
    server.post('/slow', async () => {
      await wait(50);
      return { done: 'slowly' };
    });
    server.get('/stream', (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/plain' });
      reply.raw.write('begun;');
      setTimeout(() => reply.raw.end('ended'), 50);
    });
    server.get('/large', async () => Readable.from(Array.from({ length: 200 }, () => block)));
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  /** All that comes back on one connection, on which this is sent at once. */
  async function send(...requests: string[]): Promise<string> {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(requests.join(''));
    return text(socket);
  }

  const post = (path: string, more: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}`;
  const slow = post('/slow', 'content-length: 2\r\n\r\n{}');
  const statuses = (answers: string): string[] => answers.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

  test.each([
    ['a body that is no chunk', post('/slow', 'transfer-encoding: chunked\r\n\r\nzz\r\n'), '400'],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n', '404'],
    ['no request', 'nonsense\r\n\r\n', undefined],
  ])('%s behind a request leaves that its own answer', async (_name, behind, status) => {
    const answers = await send(slow, behind);
    expect(statuses(answers)).toEqual(['200', status].filter(Boolean));
    expect(answers).toContain('slowly');
  });

  test('is not written into an answer that is being sent', async () => {
    const get = 'GET /stream HTTP/1.1\r\nhost: x\r\n\r\n';
    const answers = await send(get, 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n');
    expect(answers).toMatch(/begun;\r\n5\r\nended\r\n0\r\n\r\nHTTP\/1\.1 404 /);
  });

  const tunnel = 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n';
  const large = 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n';

  test.each([
    ['the request', [large]],
    ['several', [slow, large, large]],
  ])(
    'an answer that is larger than all buffers goes on where a tunnel waits behind %s',
    async (_name, before) => {
      const answers = await send(...before, tunnel);
      expect(statuses(answers).at(-1)).toBe('404');
      const blocks = before.filter((request) => request === large).length * 200;
      expect(answers.match(/b+/g)?.filter((one) => one.length === block.length)).toHaveLength(blocks);
    },
  );

  test('a caller who reads nothing of an answer before a tunnel is let go after the time of the server', async () => {
    server.server.timeout = 200;
    try {
      const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1').pause();
      const [[theirs]] = await Promise.all([once(server.server, 'connection'), once(socket, 'connect')]);
      const ended = new Promise((resolve) => theirs.on('close', () => resolve('ended')));
      socket.write(`${large}${tunnel}`);
      expect(await Promise.race([ended, wait(3_000)])).toBe('ended');
      socket.destroy();
    } finally {
      server.server.timeout = 0;
    }
  });

  test('a caller who resets it while a tunnel waits behind a request ends no process', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    const [[theirs]] = await Promise.all([once(server.server, 'connection'), once(socket, 'connect')]);
    // Not by `once`, which hears errors, too.
    const ended = new Promise((resolve) => theirs.on('close', resolve));
    socket.write(`${slow}CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n`);
    await once(server.server, 'connect');
    socket.resetAndDestroy();
    await ended;
    await wait(10);
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
  });
});

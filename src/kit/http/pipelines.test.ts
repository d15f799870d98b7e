import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { slowness } from '../../../test/slowness.ts';
import { createLog } from '../log.ts';
import { limitPipelines } from './pipelines.ts';
import { createHttpServer } from './server.ts';

const mostMs = 100;
const attempts = 5;

describe('kit/http/pipelines', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  /** What came back when the connection has ended, or after a while. */
  async function send(
    server: Server,
    text: string,
  ): Promise<{ answers: number; isEnded: boolean; all: string }> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let all = '';
    let isEnded = false;
    socket.on('data', (chunk) => (all += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => (isEnded = true));
    socket.write(text);
    await new Promise((resolve) => {
      socket.once('close', resolve);
      setTimeout(resolve, 3_000);
    });
    socket.destroy();
    return { answers: all.match(/HTTP\/1.1 \d/g)?.length ?? 0, isEnded, all };
  }

  const requests = (count: number): string =>
    Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nhost:x\r\n\r\n`).join('');

  async function slowServer(): Promise<{ server: Server; seen: string[] }> {
    const seen: string[] = [];
    const server = createServer();
    limitPipelines(server);
    server.on('checkContinue', (request, response) => {
      response.writeContinue();
      server.emit('request', request, response);
    });
    server.on('request', ({ url = '' }, response) => {
      seen.push(url);
      setTimeout(() => response.end(url), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => void server.close());
    return { server, seen };
  }

  test('answers as many as it takes ahead, then ends; nothing beyond is done', async () => {
    const { server, seen } = await slowServer();
    const { answers, isEnded, all } = await send(server, requests(3_000));
    expect({ answers, isEnded, seen: seen.length }).toEqual({ answers: 100, isEnded: true, seen: 100 });
    expect(all).toMatch(/connection: close/i);
    expect(all.endsWith('/99')).toBe(true);
  });

  test('one after another are as many as there are', async () => {
    const { server, seen } = await slowServer();
    expect(await send(server, requests(100))).toMatchObject({ answers: 100, isEnded: false });
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    for (let count = 0; count < 5; count += 1) {
      socket.write(requests(60));
      await expect.poll(() => seen.length).toBe(100 + 60 * (count + 1));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(socket.readyState).toBe('open');
    socket.destroy();
  });

  test('a request that expects 100 Continue counts once', async () => {
    const { server } = await slowServer();
    const one = 'GET /a HTTP/1.1\r\nhost:x\r\nexpect: 100-continue\r\n\r\n';
    const { all, isEnded } = await send(server, one.repeat(100));
    expect({ answers: all.match(/ 200 OK/g)?.length, isEnded }).toEqual({ answers: 100, isEnded: false });
  });

  test('20,000 of them do not hold up others', { timeout: 60_000 }, async () => {
    const server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 1, trustedProxies: [] });
    server.get('/page', async () => ({}));
    await server.listen({ port: 0, host: '127.0.0.1' });
    ends.push(() => server.close());
    for (const text of ['GET / HTTP/1.1\r\n\r\n', 'GET /page HTTP/1.1\r\nhost:x\r\n\r\n']) {
      let least = Infinity;
      for (let attempt = 0; attempt < attempts && least > mostMs; attempt += 1) {
        let [held, before, isOver] = [0, NaN, false];
        const tick = (): void => {
          const now = performance.now();
          held = Math.max(held, now - before || 0);
          before = now;
          if (!isOver) setImmediate(tick);
        };
        setImmediate(tick);
        expect(await send(server.server, text.repeat(20_000))).toMatchObject({ isEnded: true });
        isOver = true;
        least = Math.min(least, held / slowness());
      }
      expect(least).toBeLessThan(mostMs);
    }
  });
});

import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { createHttpServer, type HttpServer } from './server.ts';

describe('kit/http/upgrades', () => {
  let server: HttpServer;
  const asked: string[] = [];
  beforeAll(async () => {
    server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 2_000, trustedProxies: [] });
    server.get('/:name', async ({ url }) => {
      asked.push(url);
      if (url === '/slow') await new Promise((resolve) => setTimeout(resolve, 300));
      return { url };
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  /** What came until the connection ended, or was silent for a while. */
  async function exchange(bytes: string, later = ''): Promise<{ all: string; isEnded: boolean }> {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    let all = '';
    socket.on('data', (chunk) => (all += chunk.toString()));
    socket.setTimeout(1_500);
    socket.write(bytes);
    setTimeout(() => socket.write(later), 100);
    const isEnded = await new Promise<boolean>((resolve) => {
      socket.once('end', () => resolve(true));
      socket.once('timeout', () => resolve(false));
    });
    socket.destroy();
    return { all, isEnded };
  }

  const request = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

  test.each(['h2c', 'websocket'])('the answer to an offer of %s ends its connection', async (to) => {
    const offer = request('/first', `connection: Upgrade\r\nupgrade: ${to}\r\n`);
    const { all, isEnded } = await exchange(offer + request('/second'));
    expect(all).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*"\/first"/i);
    expect(isEnded).toBe(true);
  });

  test('what comes behind an offer before its answer is not done', async () => {
    const offer = request('/slow', 'connection: Upgrade\r\nupgrade: h2c\r\n');
    const { all, isEnded } = await exchange(offer, request('/later'));
    expect(all.match(/"\/\w+"/g)).toEqual(['"/slow"']);
    expect(isEnded).toBe(true);
    expect(asked).not.toContain('/later');
  });

  test.each(['upgrade: h2c\r\n', 'connection: keep-alive\r\n'])('%j alone offers nothing', async (header) => {
    const { all, isEnded } = await exchange(request('/first', header) + request('/second'));
    expect(all).toMatch(/"\/first"[^]*"\/second"/);
    expect(isEnded).toBe(false);
  });
});

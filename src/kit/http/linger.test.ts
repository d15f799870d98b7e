import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { createHttpServer, type HttpServer } from './server.ts';

describe('kit/http/linger', () => {
  let server: HttpServer;
  let done: unknown[];
  let socket: Socket;
  let answer: string;

  beforeEach(async () => {
    [done, answer] = [[], ''];
    server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 1_000, trustedProxies: [] });
    server.post('/do', async ({ body }) => {
      done.push(body);
      return {};
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    Object.assign(server.server, { headersTimeout: 100, requestTimeout: 200 });
    const { port } = server.server.address() as AddressInfo;
    // A caller who still sends when the server has ended its side.
    socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', () => undefined);
  });
  afterEach(async () => {
    socket.destroy();
    await server.close();
  });

  const head = 'POST /do HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 7\r\n';
  const body = '{"n":1}';

  test(
    'nothing is done of a request that was refused as too slow, though the rest of its body comes at once',
    { timeout: 20_000 },
    async () => {
      socket.write(`${head}\r\n${body.slice(0, 3)}`);
      await expect.poll(() => answer, { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain('Nothing was done');
      socket.write(`${body.slice(3)}${head}\r\n${body}`);
      await wait(300);
      expect(done).toEqual([]);
      expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      // Once the caller ends the connection, too, it is over.
      socket.end();
      await expect.poll(() => socket.closed, { timeout: 1_000 }).toBe(true);
    },
  );
});

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { AnswerPace } from './answer-pace.ts';
import { paceChunks } from './chunk-pace.ts';
import { sendHttp } from './client.ts';
import { startTinyProvider } from './tiny-provider.fixture.ts';

test('kit/http/answer-pace: takes few of many tiny chunks in a turn, and all of them', async () => {
  const count = 45_000;
  const provider = await startTinyProvider(count);
  const result = await sendHttp(
    provider.egress,
    { method: 'GET', url: `${provider.origin}/` },
    { timeoutMs: 10_000 },
  );
  await provider.close();
  expect(result).toEqual({ answer: expect.objectContaining({ status: 200, body: 'x'.repeat(count) }) });
  // One read of 64 KiB holds ten thousand.
  expect(provider.mostInTurn()).toBeLessThan(2_100);
});

const calls = 10;
const body = Buffer.alloc(8 * 1024 * 1024, 'x');

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** How many bytes come in each turn of the event loop. */
function countTurns(): { turns: number[]; add: (bytes: number) => void } {
  const turns: number[] = [];
  let inTurn = 0;
  const add = (bytes: number): void => {
    if (inTurn === 0)
      setImmediate(() => {
        turns.push(inTurn);
        inTurn = 0;
      });
    inTurn += bytes;
  };
  return { turns, add };
}

/** Of all connections together: at first each may come with what one reads in a turn; then one of them does. */
function lookAt(turns: number[]): { all: number; isShort: boolean } {
  const sizes = turns.toSorted((a, b) => a - b);
  const [most = NaN, median = NaN] = [sizes.at(-1), sizes[sizes.length >> 1]];
  const all = sizes.reduce((sum, one) => sum + one, 0);
  return { all, isShort: most < calls * 400 * 1024 && median < 1024 * 1024 };
}

test('kit/http/answer-pace: reads little of many fast answers in a turn, and all of them', async () => {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  const server = createServer((socket) => {
    socket.once('data', () => socket.write(Buffer.concat([Buffer.from(head), body])));
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const agent = new Agent();
  const { turns, add } = countTurns();
  const read = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const pace = new AnswerPace();
      agent.dispatch(
        { origin, path: '/', method: 'GET' },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData(controller, chunk) {
            add(chunk.length);
            pace.pass(controller, chunk.length);
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  await Promise.all(Array.from({ length: calls }, read));
  await agent.destroy();
  server.close();
  expect(lookAt(turns)).toEqual({ all: calls * body.length, isShort: true });
});

test('kit/http/chunk-pace: reads little of many fast bodies in a turn, and all of them', async () => {
  const { turns, add } = countTurns();
  const server = createHttpServer((request, response) => {
    request.on('data', (chunk: Buffer) => add(chunk.length));
    request.once('end', () => response.end());
  });
  paceChunks(server);
  const port = await listen(server);
  const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
  const send = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(Buffer.concat([Buffer.from(head), body]));
    await once(socket, 'data');
    socket.destroy();
  };
  await Promise.all(Array.from({ length: calls }, send));
  server.close();
  expect(lookAt(turns)).toEqual({ all: calls * body.length, isShort: true });
});

import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowness } from '../../../test/slowness.ts';
import { createLog } from '../log.ts';
import { bodyBudget } from './body-budget.ts';
import { paceChunks } from './chunk-pace.ts';
import { createHttpServer, type HttpServer } from './server.ts';

/** For how long the loop may be held, in milliseconds of a processor that is not slowed. */
const mostMs = 100;
const attempts = 5;
const many = 600_000;

interface Sent {
  answer: string;
  isClosed: boolean;
  held: number;
}

describe('kit/http/chunk-pace', () => {
  let server: HttpServer;
  /** One that answers at once and reads nothing. */
  let bare: Server;

  beforeAll(async () => {
    server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 10_000_000, trustedProxies: [] });
    server.post('/taken', async ({ body }) => ({ length: JSON.stringify(body).length }));
    server.get('/page', async () => ({}));
    server.post('/later', { preParsing: async () => wait(20, undefined) }, async ({ body }) => ({
      length: JSON.stringify(body).length,
    }));
    await server.listen({ port: 0, host: '127.0.0.1' });
    bare = createServer((_request, response) => response.end());
    paceChunks(bare);
    await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await server.close();
    bare.close();
  });

  /** One try: the server is busy at first, so that as much as can be waits for it. */
  async function sendOnce(line: string, text: string, times: number, tail: string): Promise<Sent> {
    const taker = line.startsWith('POST /bare') ? bare : server.server;
    const { port } = taker.address() as AddressInfo;
    const [request = '', ...headers] = line.split('\n');
    const head = `${[`${request} HTTP/1.1`, ...headers].join('\r\n')}\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    const workerData = { port, head, text, times, tail };
    const worker = new Worker(new URL('./tiny-client.fixture.ts', import.meta.url), { workerData });
    let [held, before, isOver] = [0, NaN, false];
    taker.once(line.includes('expect') ? 'checkExpectation' : 'request', () => {
      const begun = performance.now();
      while (performance.now() - begun < 300);
      before = NaN;
      setImmediate(tick);
    });
    function tick(): void {
      const now = performance.now();
      held = Math.max(held, now - before || 0);
      before = now;
      if (!isOver) setImmediate(tick);
    }
    const end = await new Promise<{ answer: string; isClosed: boolean }>((resolve, reject) => {
      worker.once('message', resolve).once('error', reject);
    });
    isOver = true;
    await worker.terminate();
    return { ...end, held: held / slowness() };
  }

  async function send(line: string, text: string, times: number, tail = ''): Promise<Sent> {
    let least = await sendOnce(line, text, times, tail);
    for (let attempt = 1; attempt < attempts && least.held > mostMs; attempt += 1) {
      const next = await sendOnce(line, text, times, tail);
      if (next.held < least.held) least = next;
    }
    return least;
  }

  test.each([
    'POST /taken',
    'POST /nothing',
    'GET /page',
    'POST /%ff',
    'POST /taken\nexpect: foo',
    'POST /bare',
  ])(
    '%s with chunks of one byte does not hold up others, and is ended',
    { timeout: 60_000 },
    async (line) => {
      const sent = await send(line, '1\r\n \r\n', many);
      expect(sent.held).toBeLessThan(mostMs);
      expect(sent.isClosed).toBe(true);
      expect(bodyBudget.used()).toBe(0);
    },
  );

  test('says what is wrong with a body in chunks of one byte', { timeout: 60_000 }, async () => {
    // So many that the rest ends in time.
    const { answer } = await send('POST /taken', '1\r\n \r\n', 60_000);
    expect(answer).toContain(' 400 ');
    expect(answer).toContain('hold less than 32 bytes');
  });

  test('reads on where the body waited in memory before anybody read it', async () => {
    const { port } = server.server.address() as AddressInfo;
    for (const [size, count] of [
      [1, 45_000],
      [40, 20_000],
      [60, 20_000],
      [40, 20_000],
    ] as const) {
      const socket = connect(port, '127.0.0.1');
      const head =
        'POST /later HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked';
      const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`;
      socket.write(`${head}\r\n\r\n${chunk.repeat(count)}2\r\n[]\r\n0\r\n\r\n`);
      expect(await textOf(socket)).toContain('"length":2');
    }
  });

  const end = '2\r\n[]\r\n0\r\n\r\n';

  test('takes fewer of them, and many that hold something', { timeout: 60_000 }, async () => {
    expect((await send('POST /taken', '1\r\n \r\n', 49_000, end)).answer).toContain('"length":2');
    const text = `21\r\n${' '.repeat(33)}\r\n`;
    expect((await send('POST /taken', text, 60_000, end)).answer).toContain('"length":2');
  });
});

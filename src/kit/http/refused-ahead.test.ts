import { setTimeout as wait } from 'node:timers/promises';
import { connect, type AddressInfo } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { createHttpServer, type HttpServer } from './server.ts';

/** Requests that are sent in one piece behind one that is refused: each that is done is answered, too. */
describe('kit/http/refused-ahead', () => {
  let server: HttpServer;
  const done: number[] = [];
  const deleted: string[] = [];

  beforeAll(async () => {
    server = createHttpServer({ log: createLog('silent'), bodyLimitBytes: 1_000, trustedProxies: [] });
    // The caller is looked up.
    server.addHook('onRequest', async () => wait(20));
    server.route({
      method: 'POST',
      url: '/do',
      schema: { body: Type.Object({ n: Type.Integer() }, { additionalProperties: false }) },
      handler: async ({ body }) => {
        await wait(50);
        const { n } = body;
        done.push(n);
        return { n };
      },
    });
    server.delete('/:name', async ({ url }, reply) => {
      deleted.push(url);
      return reply.code(204).send();
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server?.close());
  beforeEach(() => void done.splice(0));

  const head = (...lines: string[]): string =>
    ['POST /do HTTP/1.1', 'Host: x', ...lines].map((line) => `${line}\r\n`).join('') + '\r\n';
  const post = (body: string, type = 'application/json', ...lines: string[]): string =>
    head(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`, ...lines) + body;
  const good = (n: number): string => post(JSON.stringify({ n }));

  async function send(text: string): Promise<{ statuses: string[]; answered: number[] }> {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    let all = '';
    socket.on('data', (chunk) => (all += chunk.toString()));
    socket.write(text);
    const found = (form: RegExp) => [...all.matchAll(form)].map(([, one = '']) => one);
    const answered = () => found(/\{"n":(\d+)\}/g).map(Number);
    await expect.poll(() => socket.closed || answered().length === 2, { timeout: 3_000 }).toBe(true);
    socket.destroy();
    return { statuses: found(/HTTP\/1\.1 (\d+)/g), answered: answered() };
  }

  const gzip = 'Transfer-Encoding: gzip, chunked';
  const refused: [what: string, text: string, status: string][] = [
    ['a body that is no JSON', post('{"n":'), '400'],
    ['an empty body', post(''), '400'],
    ['a body that is no UTF-8', post('{"n":1}', 'application/json; charset=latin1'), '415'],
    ['another media type', post('{"n":1}', 'text/xml'), '415'],
    ['a compressed body', post('{"n":1}', 'application/json', 'Content-Encoding: gzip'), '415'],
    [
      'another transfer coding',
      `${head('Content-Type: application/json', gzip)}7\r\n{"n":1}\r\n0\r\n\r\n`,
      '415',
    ],
    ['a body that does not fit its schema', post('{"n":"x"}'), '400'],
    ['a body over the limit', post(JSON.stringify({ n: 'x'.repeat(2_000) })), '413'],
    ['a prototype', post('{"__proto__":{"n":1},"n":1}'), '400'],
    ['an unknown path', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n', '404'],
    ['an unknown expectation', post('{"n":1}', 'application/json', 'Expect: wonders'), '417'],
  ];

  it.each(refused)('what stands behind %s is done and answered', async (_what, text, status) => {
    const { statuses, answered } = await send(text + good(1) + text + good(2));
    expect(statuses).toEqual([status, '200', status, '200']);
    expect(answered).toEqual([1, 2]);
    expect(done.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it('what stands behind a request of HTTP/1.0 is not done, since its answer ends the connection', async () => {
    const one = (path: string) => `DELETE ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`;
    expect(await send(one('/a') + one('/b'))).toMatchObject({ statuses: ['204'] });
    expect(deleted).toEqual(['/a']);
  });
});

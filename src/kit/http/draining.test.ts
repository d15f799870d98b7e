import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drained, drainingResponse, rememberConnections } from './draining.ts';
import { guardConnections } from './guard.ts';

describe('kit/http/draining', () => {
  /** By its path, in the order in which they were asked for. */
  let asked: Map<string, ServerResponse>;
  let accepts: boolean;
  let server: Server;
  let socket: Socket;
  let opened: Socket[];
  let all: string;
  let end: () => void;

  beforeEach(async () => {
    asked = new Map();
    [accepts, all, opened] = [true, '', []];
    server = createServer({ ServerResponse: drainingResponse(() => accepts) });
    guardConnections(server);
    rememberConnections(server);
    server.on('request', ({ url = '' }, response) => {
      asked.set(url, response);
      if (url === '/last') response.shouldKeepAlive = false;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('data', (chunk) => (all += chunk.toString()));
    end = () => {
      socket.destroy();
      server.close();
    };
  });
  afterEach(() => end());

  const ask = (...paths: string[]): void =>
    void socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''));
  const taken = (...paths: string[]) => expect.poll(() => [...asked.keys()]).toEqual(paths);
  const answer = (path: string): void => void asked.get(path)?.end(path);
  /** Paths and what was said of the connection, once it has ended. */
  const answers = async (): Promise<[path: string, connection: string][]> => {
    await expect.poll(() => socket.readableEnded).toBe(true);
    return all
      .split('HTTP/1.1 200 OK')
      .slice(1)
      .map((one) => [one.split('\r\n\r\n')[1] ?? '', /connection: ([\w-]+)/i.exec(one)?.[1] ?? '']);
  };
  const aWhile = () => new Promise((resolve) => setTimeout(resolve, 100));

  test('nothing is done of what stands behind the last answer of a connection, in one piece or later', async () => {
    ask('/first', '/last', '/behind');
    await taken('/first', '/last');
    ask('/later');
    await aWhile();
    answer('/last');
    await aWhile();
    answer('/first');
    expect(await answers()).toEqual([
      ['/first', 'keep-alive'],
      ['/last', 'close'],
    ]);
    await taken('/first', '/last');
  });

  test('a server that stops answers all that it took, and ends each connection with the last', async () => {
    ask('/a', '/b');
    await taken('/a', '/b');
    accepts = false;
    ask('/c');
    await taken('/a', '/b', '/c');
    for (const path of ['/b', '/a', '/c']) answer(path);
    expect(await answers()).toEqual([
      ['/a', 'keep-alive'],
      ['/b', 'keep-alive'],
      ['/c', 'close'],
    ]);
  });

  test('nothing is done of what comes while an answer that says close is still sent', async () => {
    accepts = false;
    ask('/long');
    await taken('/long');
    asked.get('/long')?.write('/lo');
    await expect.poll(() => all).toMatch(/connection: close/i);
    ask('/behind');
    await aWhile();
    asked.get('/long')?.end('ng');
    await expect.poll(() => socket.readableEnded).toBe(true);
    await taken('/long');
    expect(all).toMatch(/\/lo\r\n2\r\nng\r\n0\r\n\r\n$/);
  });

  test('an answer that began to keep the connection keeps it, whoever stops meanwhile', async () => {
    ask('/long');
    await taken('/long');
    asked.get('/long')?.write('/lo');
    await expect.poll(() => all).toMatch(/connection: keep-alive/i);
    accepts = false;
    ask('/next');
    await taken('/long', '/next');
    answer('/next');
    asked.get('/long')?.end('ng');
    await expect.poll(() => socket.readableEnded).toBe(true);
    expect(all).toMatch(/connection: close[^]*\/next$/i);
  });

  test.each([
    ['headers that do not end', 'GET /never HTTP/1.1\r\nhost: x\r\n', ''],
    [
      'a body that does not end',
      'POST /refused HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{',
      '/refused',
    ],
  ])('a server that stops does not wait for %s, but for what is not answered', async (_what, text, path) => {
    socket.write(text);
    const slow = connect((server.address() as AddressInfo).port, '127.0.0.1');
    slow.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => [...asked.keys()].toSorted()).toEqual([path, '/slow'].filter(Boolean).toSorted());
    if (path !== '') answer(path);
    accepts = false;
    const ends = drained(server);
    await expect.poll(() => socket.closed, { timeout: 5_000 }).toBe(true);
    expect(slow.closed).toBe(false);
    answer('/slow');
    slow.resume();
    await ends;
  });

  test('a server that stops does nothing of what comes on a connection that it has ended', async () => {
    const { port } = server.address() as AddressInfo;
    for (const [begin, path] of [
      ['GET /never HTTP/1.1\r\nhost: x\r\n', ''],
      ['POST /refused HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{', '/refused'],
    ] as const) {
      const open = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      open.on('error', () => undefined);
      open.write(begin);
      if (path !== '') await taken(path);
      answer(path);
      opened.push(open.resume());
    }
    accepts = false;
    const ends = drained(server);
    await Promise.all(
      opened.map((open) => expect.poll(() => open.readableEnded, { timeout: 5_000 }).toBe(true)),
    );
    const behind = 'GET /behind HTTP/1.1\r\nhost: x\r\n\r\n';
    for (const [index, rest] of ['\r\n', '}'].entries()) opened[index]?.write(rest + behind);
    await ends;
    await taken('/refused');
  }, 15_000);
});

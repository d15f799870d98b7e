import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startRawPlatform, type RawPlatform } from '../raw-customer.ts';
import { rawExchange, startRawProvider, type RawMessage, type RawProvider } from '../raw-message.ts';

const key = 'the-customers-key';

/** More than node keeps unless it is told to. */
const many = 'a:\r\n'.repeat(1_100);

describe('test/journeys/proxy-hygiene', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  let raw: RawPlatform;

  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    const closed = 'http://127.0.0.1:9';
    // smartlead takes its key in the query; nobody listens for sentry.
    raw = await startRawPlatform(
      test.url,
      provider.url,
      { SVC_PROVIDER_CALL_MS: '2000' },
      { smartlead: provider.url, sentry: closed, stripe: 'https://inside.invalid' },
    );
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await raw?.platform.stop();
    await provider?.close();
    await test?.drop();
  });

  const lines = (headers: Record<string, string>): string =>
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const head = (line: string, more = '', of = 'iterable', host = 'Host: x\r\n'): string =>
    `${line} HTTP/1.1\r\n${host}${lines(raw.oursOf(of))}${more}\r\n`;
  const send = (bytes: string) => rawExchange(raw.platform.proxy, Buffer.from(bytes, 'latin1'));
  const told = (message: RawMessage | undefined, name: string): string[] =>
    (message?.headers ?? []).filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const statusOf = (message: RawMessage | undefined): number => Number(message?.startLine.split(' ')[1]);
  const problemOf = (message: RawMessage | undefined) => [
    statusOf(message),
    told(message, 'x-svc-problem')[0],
  ];
  const detailOf = (message: RawMessage | undefined): string =>
    (JSON.parse(message?.body.toString() ?? '{}') as { detail: string }).detail;
  /** Everything that comes back on one connection until it ends or is quiet. */
  async function converse(parts: string[], quietMs = 400): Promise<{ text: string; ended: boolean }> {
    const socket: Socket = connect(Number(new URL(raw.platform.proxy).port), '127.0.0.1');
    let text = '';
    let ended = false;
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => (ended = true));
    socket.on('end', () => (ended = true));
    await once(socket, 'connect');
    for (const part of parts) {
      socket.write(Buffer.from(part, 'latin1'));
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
    await new Promise((resolve) => setTimeout(resolve, 400));
    socket.destroy();
    return { text, ended };
  }
  const statusesOf = (text: string): number[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

  describe('what a provider says of us', () => {
    it('X-Svc-* of its answer is dropped, as header and as trailer, so that only ours speak', async () => {
      provider.answer(
        'HTTP/1.1 200 OK\r\nX-Svc-Problem: forged\r\nx-svc-request-id: forged\r\nX-SVC-Retryable: true\r\nX-Other: 1\r\n' +
          'Transfer-Encoding: chunked\r\nTrailer: X-Svc-Late, X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Svc-Late: 1\r\nX-Sum: 2\r\nSet-Cookie: a=b\r\n\r\n',
      );
      const { message } = await send(head('GET /x'));
      expect(told(message, 'x-svc-problem')).toEqual([]);
      expect(told(message, 'x-svc-retryable')).toEqual([]);
      expect(told(message, 'x-svc-request-id')).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)]);
      expect(told(message, 'x-other')).toEqual(['1']);
      expect(message?.trailers).toEqual([['X-Sum', '2']]);
    });

    it.each([
      [`/next?page=2&api_key=${key}`, '/next?page=2'],
      [`https://api.example/next?api_key=${key}&page=2#top`, 'https://api.example/next?page=2#top'],
      [`/next?api_key=${key}`, '/next'],
      [`/next?api_key=${key}#top`, '/next#top'],
      [`/next?api%5Fkey=the%2Dcustomers-key&a=1`, '/next?a=1'],
      ['/next?api_key=another&a=b%20c', '/next?api_key=another&a=b%20c'],
      [`/login?return=%2Fx%3Fapi_key%3D${key}`, '/login?return=%2Fx%3Fapi_key%3D'],
    ])('a key in the query does not come back in a header: %s', async (said, shown) => {
      provider.answer(
        `HTTP/1.1 302 Found\r\nLocation: ${said}\r\nLink: <${said}>; rel="next"\r\nContent-Length: 0\r\n\r\n`,
      );
      const { message } = await send(head('GET /x?page=1', '', 'smartlead'));
      expect(provider.seen[0]?.startLine).toBe(`GET /x?page=1&api_key=${key} HTTP/1.1`);
      expect(told(message, 'location')).toEqual([shown]);
      expect(told(message, 'link')).toEqual([`<${shown}>; rel="next"`]);
    });
  });

  it('a failure to connect names no address', async () => {
    const refused = (await send(head('GET /x', '', 'sentry'))).message;
    expect(problemOf(refused)).toEqual([502, 'provider-unreachable']);
    expect(detailOf(refused)).toBe(
      'The provider cannot be reached: the connection was refused. Nothing was sent.',
    );
    const unknown = (await send(head('GET /x', '', 'stripe'))).message;
    expect(problemOf(unknown)).toEqual([502, 'provider-unreachable']);
    expect(detailOf(unknown)).toBe(
      'The provider cannot be reached: its name is not known. Nothing was sent.',
    );
  });

  it.each([
    ['POST', 'leaves', 502, false],
    ['PATCH', 'leaves', 502, false],
    ['PUT', 'leaves', 502, true],
    ['DELETE', 'leaves', 502, true],
    ['GET', 'leaves', 502, true],
    ['POST', 'is silent', 504, false],
    ['GET', 'is silent', 504, true],
    ['POST', 'cannot be reached', 502, true],
  ])('a %s whose provider %s is a %i, retryable: %s', async (method, how, status, retryable) => {
    provider.answer((socket) => void (how === 'leaves' && socket.destroy()));
    const of = how === 'cannot be reached' ? 'sentry' : 'iterable';
    const { message } = await send(`${head(`${method} /x`, 'Content-Length: 2\r\n', of)}ab`);
    expect(JSON.parse(message?.body.toString() ?? '{}')).toMatchObject({ status, retryable });
  });

  describe('a group whose reference is outside ASCII', () => {
    const groups = ['Müller & Söhne', '株式会社', 'voilà', 'zażółć'];

    it.each(groups)('%s is addressed by its UTF-8 bytes', async (groupRef) => {
      const made = await raw.platform.call('POST', '/projects/default/connections:generate', {
        provider: 'iterable',
        groupRef,
        consumerRef: 'ada',
        apiKey: key,
      });
      expect(made.status).toBe(201);
      const installed = await raw.platform.call(
        'POST',
        '/projects/default/integrations/raw-iterable/installations',
        { groupRef, config: { content: { provider: 'iterable' } } },
      );
      expect(installed.status).toBe(201);
      const { 'x-svc-installation-id': _id, ...ours } = raw.oursOf('iterable');
      const named = lines({
        ...ours,
        'x-svc-integration-name': 'raw-iterable',
        'x-svc-group-ref': Buffer.from(groupRef, 'utf8').toString('latin1'),
      });
      const { message } = await send(`GET /x HTTP/1.1\r\nHost: x\r\n${named}\r\n`);
      expect(statusOf(message)).toBe(200);
    });

    it('bytes that are not UTF-8 are refused', async () => {
      const { 'x-svc-installation-id': _id, ...ours } = raw.oursOf('iterable');
      const named = lines({
        ...ours,
        'x-svc-integration-name': 'raw-iterable',
        'x-svc-group-ref': 'M\xfcller',
      });
      const { message } = await send(`GET /x HTTP/1.1\r\nHost: x\r\n${named}\r\n`);
      expect(problemOf(message)).toEqual([400, 'proxy-request-invalid']);
      expect(detailOf(message)).toBe('x-svc-group-ref: must be UTF-8');
    });
  });

  it.each([' acme', 'acme ', '\u00a0acme', 'acme\n', 'ac\tme', '\ufeffacme', ' '])(
    'the reference %j is refused where references are made',
    async (reference) => {
      for (const name of ['groupRef', 'consumerRef']) {
        const made = await raw.platform.call<{ issues: unknown[] }>(
          'POST',
          '/projects/default/connections:generate',
          { provider: 'iterable', groupRef: 'acme', consumerRef: 'ada', apiKey: key, [name]: reference },
        );
        expect([made.status, made.body.issues]).toMatchObject([400, [{ in: 'body', name }]]);
      }
      const made = await raw.platform.call('POST', '/projects/default/api-keys', {
        label: 'k',
        groupRef: reference,
      });
      expect(made.status).toBe(400);
    },
  );

  describe('when a connection carries what cannot be read', () => {
    const slowly = (): void =>
      provider.answer((socket) => {
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), 200);
      });

    it('garbage behind a request does not take its answer', async () => {
      slowly();
      const { text, ended } = await converse([`${head('GET /one')}NONSENSE\r\n\r\n`]);
      expect(statusesOf(text)).toEqual([200]);
      expect(text).toMatch(/ok$/);
      expect(ended).toBe(true);
      slowly();
      const later = await converse(
        [head('GET /one') + head('GET /two'), 'NONSENSE\r\n\r\n', 'MORE\r\n\r\n', ''],
        60,
      );
      expect(statusesOf(later.text)).toEqual([200, 200]);
      expect(later.ended).toBe(true);
    });

    it('garbage behind a request with a body does not take its answer', async () => {
      slowly();
      const { text, ended } = await converse([
        `${head('POST /one', 'Content-Length: 2\r\n')}abNONSENSE\r\n\r\n`,
      ]);
      expect(statusesOf(text)).toEqual([200]);
      expect(ended).toBe(true);
    });

    it('garbage after an answer is refused on its own', async () => {
      const { text, ended } = await converse([head('GET /one'), 'NONSENSE\r\n\r\n']);
      expect(statusesOf(text)).toEqual([200, 400]);
      expect(ended).toBe(true);
    });

    it('no second answer follows an early refusal', async () => {
      const wrongKey = head('POST /x', 'Transfer-Encoding: chunked\r\n').replace(
        /x-api-key: [^\r]+/,
        'x-api-key: wrong',
      );
      const { text, ended } = await converse([`${wrongKey}2\r\nab\r\n`, 'zz\r\nNONSENSE']);
      expect(statusesOf(text)).toEqual([401]);
      expect(ended).toBe(true);
    });

    it('no second answer follows on the management surface either', async () => {
      const socket = connect(Number(new URL(raw.platform.base).port), '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.write(
        'POST /v1/projects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n',
      );
      await expect.poll(() => statusesOf(text)).toEqual([401]);
      socket.write('zz\r\nNONSENSE');
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(statusesOf(text)).toEqual([401]);
      socket.destroy();
    });

    it('a body that breaks off on the way is refused once, and the provider’s call is given up', async () => {
      const broken = [`${head('POST /x', 'Transfer-Encoding: chunked\r\n')}2\r\nab\r\n`, 'zz\r\nNONSENSE'];
      const { text, ended } = await converse(broken);
      expect(statusesOf(text)).toEqual([400]);
      expect(text).toContain('may have reached the provider');
      expect(ended).toBe(true);
      await expect.poll(() => provider.open()).toBe(0);
    });
  });

  describe('the Host of a request', () => {
    it.each([
      ['twice', 'Host: x\r\nHost: x\r\n'],
      ['twice, once behind many headers', `Host: x\r\n${many}Host: y\r\n`],
      ['with a user', 'Host: ada@x\r\n'],
      ['with a path', 'Host: x/y\r\n'],
      ['with a query', 'Host: x?y\r\n'],
      ['with a space', 'Host: x y\r\n'],
      ['with two ports', 'Host: x:1:2\r\n'],
      ['with a port that is no number', 'Host: x:http\r\n'],
      ['missing', ''],
    ])('%s is refused', async (_name, host) => {
      const { message } = await send(head('GET /x', '', 'iterable', host));
      expect(problemOf(message)).toEqual([400, 'proxy-request-invalid']);
      expect(provider.seen).toEqual([]);
    });

    it.each(['x', 'x:4001', 'x:', '', '[::1]:4001', '127.0.0.1', 'a_b.example', 'xn--mller-kva.example'])(
      '%j passes',
      async (host) => {
        const { message } = await send(head('GET /x', '', 'iterable', `Host: ${host}\r\n`));
        expect(statusOf(message)).toBe(200);
      },
    );
  });

  it.each(['foo', '100-continue, foo', 'foo, 100-continue', '100-continue;q=1'])(
    'the expectation %j is refused',
    async (expected) => {
      const { message } = await send(head('GET /x', `Expect: ${expected}\r\n`));
      expect(problemOf(message)).toEqual([400, 'proxy-request-invalid']);
      expect(provider.seen).toEqual([]);
    },
  );

  it.each(['/a b', '/x?q=a b', '/x?q=\u00e4'])('what has to be escaped is said so: %s', async (target) => {
    const { message } = await send(head(`GET ${target}`));
    expect(problemOf(message)).toEqual([400, 'proxy-request-invalid']);
    expect(message?.body.toString()).toMatch(/cannot stand there as it is.*Percent-encode /);
    expect(provider.seen).toEqual([]);
  });

  describe('headers behind many others', () => {
    it.each(['', 'Expect: 100-continue\r\n'])('reach the provider, and the caller (%j)', async (more) => {
      provider.answer(`HTTP/1.1 200 OK\r\n${many}X-Last: 1\r\nContent-Length: 2\r\n\r\nok`);
      const late = `${more}${many}Idempotency-Key: once\r\nContent-Length: 5\r\n`;
      const { message } = await send(`${head('POST /x', late)}hello`);
      expect(statusOf(message)).toBe(200);
      expect(told(message, 'x-last')).toEqual(['1']);
      expect(message?.body.toString()).toBe('ok');
      expect(told(provider.seen[0], 'idempotency-key')).toEqual(['once']);
      expect(provider.seen[0]?.body.toString()).toBe('hello');
    });
  });

  describe('the framing of an answer', () => {
    it('a 204 keeps no Content-Length', async () => {
      provider.answer('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nX-A: 1\r\n\r\n');
      const { message } = await send(head('DELETE /x'));
      expect(statusOf(message)).toBe(204);
      expect(told(message, 'content-length')).toEqual([]);
      expect(told(message, 'x-a')).toEqual(['1']);
    });

    it.each(['zz\r\nabc\r\n', '-1\r\nabc\r\n', '\r\n', 'ffffffffffffffffff\r\n'])(
      'a first chunk %j is the 502 of other broken framing',
      async (chunk) => {
        for (const more of ['', 'Expect: 100-continue\r\nContent-Length: 2\r\n']) {
          provider.answer(
            (socket) => void socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`),
          );
          const { message } = await send(head('POST /x', more) + (more ? 'ab' : ''));
          expect(problemOf(message)).toEqual([502, 'provider-unreachable']);
        }
      },
    );

    it.each(['', 'Expect: 100-continue\r\nContent-Length: 2\r\n'])(
      'a phrase with a control character is a 502 (%j)',
      async (more) => {
        provider.answer('HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n');
        const { message } = await send(head('POST /x', more) + (more ? 'ab' : ''));
        expect(problemOf(message)).toEqual([502, 'provider-unreachable']);
      },
    );

    it('a head that has no body yet reaches the caller before it', async () => {
      provider.answer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        setTimeout(() => socket.write('2\r\nok\r\n0\r\n\r\n'), 600);
      });
      const startedAt = Date.now();
      const socket = connect(Number(new URL(raw.platform.proxy).port), '127.0.0.1');
      socket.write(head('GET /events'));
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(Date.now() - startedAt).toBeLessThan(500);
      socket.destroy();
    });

    it.each(['', 'Expect: 100-continue\r\nContent-Length: 2\r\n'])(
      'a phrase in UTF-8 passes as bytes (%j)',
      async (more) => {
        provider.answer(Buffer.from('HTTP/1.1 418 théière ☕\r\nContent-Length: 0\r\n\r\n', 'utf8'));
        const { message } = await send(head('POST /x', more) + (more ? 'ab' : ''));
        expect(Buffer.from(message!.startLine, 'latin1').toString('utf8')).toBe('HTTP/1.1 418 théière ☕');
      },
    );
  });
});

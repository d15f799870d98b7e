import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

interface Told {
  status: number;
  code: string | undefined;
  detail: string | undefined;
  remedy: string | undefined;
  hasItsId: boolean;
  headers: Record<string, string>;
}

describe('test/journeys/client-faults', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** What comes back for these bytes, until the server has answered once. */
  async function told(bytes: string | Buffer): Promise<Told> {
    const { hostname, port } = new URL(platform.base);
    const socket = connect(Number(port), hostname);
    let text = '';
    const answered = new Promise<void>((resolve, reject) => {
      socket.setTimeout(20_000, () => reject(new Error(`no answer, only ${JSON.stringify(text)}`)));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (isWhole(text)) resolve();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve());
    });
    socket.write(bytes);
    await answered.finally(() => socket.destroy());
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [start = '', ...lines] = head.split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    );
    const problem = body.startsWith('{') ? (JSON.parse(body) as ProblemBody) : undefined;
    const hasItsId = problem?.requestId === headers['x-request-id'];
    const { code, detail, remedy } = problem ?? {};
    return { status: Number(start.split(' ')[1]), code, detail, remedy, hasItsId, headers };
  }

  function isWhole(text: string): boolean {
    const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
    const [, body] = text.split('\r\n\r\n');
    return length !== undefined && body !== undefined && body.length >= Number(length);
  }

  const host = 'Host: svc.example\r\n';

  it.each([
    ['an unusual method', `QUERY /v1/projects HTTP/1.1\r\n${host}\r\n`, 404, 'route-not-found'],
    ['one with a body', `QUERY / HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`, 404, 'route-not-found'],
    ['a method that none is', `NONSENSE / HTTP/1.1\r\n${host}\r\n`, 400, 'malformed-request'],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, 404, 'route-not-found'],
    ['a broken escape in the path', `GET /v1/projects/%zz HTTP/1.1\r\n${host}\r\n`, 400, 'invalid-request'],
    ['a path that is not UTF-8', `GET /v1/projects/%ff HTTP/1.1\r\n${host}\r\n`, 400, 'invalid-request'],
    [
      'a long parameter',
      `GET /v1/projects/${'a'.repeat(600)} HTTP/1.1\r\n${host}\r\n`,
      400,
      'invalid-request',
    ],
    ['a long header', `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers-too-large'],
    ['a long URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431, 'headers-too-large'],
    ['an expectation', `GET /healthz HTTP/1.1\r\n${host}Expect: tea\r\n\r\n`, 417, 'expectation-failed'],
    [
      'one beside that of 100',
      `GET /healthz HTTP/1.1\r\n${host}Expect: 100-continue, tea\r\n\r\n`,
      417,
      'expectation-failed',
    ],
    ['another version', `GET /healthz HTTP/2.0\r\n${host}\r\n`, 400, 'malformed-request'],
    [
      'chunks in HTTP/1.0',
      `POST /v1/projects HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      400,
      'malformed-request',
    ],
    [
      'two types',
      `POST / HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'malformed-request',
    ],
    [
      'a query that is not UTF-8',
      `GET /v1/projects?name=%ff HTTP/1.1\r\n${host}\r\n`,
      400,
      'invalid-request',
    ],
    ['a blank in the path', `GET /v1/a b HTTP/1.1\r\n${host}\r\n`, 400, 'malformed-request'],
    ['a query that is not escaped', `GET /v1?q=\u00e4 HTTP/1.1\r\n${host}\r\n`, 400, 'malformed-request'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'malformed-request'],
    ['two hosts', `GET /healthz HTTP/1.1\r\n${host}${host}\r\n`, 400, 'malformed-request'],
    [
      'two hosts, one behind many headers',
      `GET /healthz HTTP/1.1\r\n${host}${'a:\r\n'.repeat(1_100)}${host}\r\n`,
      400,
      'malformed-request',
    ],
    ['a host with a user', 'GET /healthz HTTP/1.1\r\nHost: me@svc.example\r\n\r\n', 400, 'malformed-request'],
    ['a host with a path', 'GET /healthz HTTP/1.1\r\nHost: svc.example/v1\r\n\r\n', 400, 'malformed-request'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'malformed-request'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed-request'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      400,
      'malformed-request',
    ],
    ['a senseless length', `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`, 400, 'malformed-request'],
    [
      'length and chunks',
      `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
      'malformed-request',
    ],
  ])('%s is refused with a problem', async (_what, bytes, status, code) => {
    const answer = await told(bytes);
    expect(answer).toMatchObject({ status, code, hasItsId: true });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each(['/v1/a b', '/v1?q=a b', '/v1?q=\u00e4'])(
    'what has to be escaped is said so: %s',
    async (target) => {
      const { detail, remedy } = await told(`GET ${target} HTTP/1.1\r\n${host}\r\n`);
      expect(detail).toContain('a character that cannot stand there as it is');
      expect(remedy).toMatch(/^Percent-encode /);
    },
  );

  it('what a provider sends a browser back with need not be UTF-8', async () => {
    const query = 'state=none&error=access_denied&error_description=refus%e9';
    const answer = await told(`GET /callbacks/v1/oauth?${query} HTTP/1.1\r\n${host}\r\n`);
    expect(answer.code).not.toBe('invalid-request');
  });

  it('a body in a transfer coding beside chunks is not read as JSON', async () => {
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    const headers = `${host}X-Api-Key: ${platform.apiKey}\r\nContent-Type: application/json\r\n`;
    const body = '2\r\n{}\r\n0\r\n\r\n';
    const answer = (coding: string) =>
      told(`POST ${path} HTTP/1.1\r\n${headers}Transfer-Encoding: ${coding}\r\n\r\n${body}`);
    expect(await answer('gzip, chunked')).toMatchObject({ status: 415, code: 'unsupported-media-type' });
    expect(await answer('Chunked')).toMatchObject({ status: 400, code: 'invalid-request' });
  });

  const post = (headers: string, body: string | Buffer, path = '/v1/projects') =>
    told(
      Buffer.concat([
        Buffer.from(`POST ${path} HTTP/1.1\r\n${host}X-Api-Key: ${platform.apiKey}\r\n${headers}\r\n`),
        Buffer.from(body),
      ]),
    );

  it.each([
    ['no content type', 'Content-Length: 2\r\n', '{}', 415, 'unsupported-media-type'],
    ['a senseless one', 'Content-Type: json\r\nContent-Length: 2\r\n', '{}', 415, 'unsupported-media-type'],
    [
      'another charset',
      'Content-Type: application/json; charset="ISO-8859-1"\r\nContent-Length: 2\r\n',
      '{}',
      415,
      'unsupported-media-type',
    ],
    [
      'another charset behind UTF-8',
      'Content-Type: application/json; charset=utf-8; charset=latin1\r\nContent-Length: 2\r\n',
      '{}',
      415,
      'unsupported-media-type',
    ],
    [
      'UTF-16',
      'Content-Type: application/json;charset=utf-16\r\nContent-Length: 2\r\n',
      '{}',
      415,
      'unsupported-media-type',
    ],
    [
      'UTF-8',
      'Content-Type: application/json; charset="UTF-8"\r\nContent-Length: 2\r\n',
      '{}',
      400,
      'invalid-request',
    ],
    [
      'compression',
      'Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n',
      '{}',
      415,
      'unsupported-media-type',
    ],
    [
      'a body too large',
      'Content-Type: application/json\r\nContent-Length: 2000000\r\n',
      '',
      413,
      'body-too-large',
    ],
    [
      'broken chunks',
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n',
      '',
      400,
      'malformed-request',
    ],
  ])('a body with %s', async (_what, headers, body, status, code) => {
    expect(await post(headers, body)).toMatchObject({ status, code });
  });

  it('unreadable bytes after a request do not get its answer', async () => {
    const good = `GET /v1/projects HTTP/1.1\r\n${host}X-Api-Key: ${platform.apiKey}\r\n\r\n`;
    expect((await told(`${good}NONSENSE\r\n\r\n`)).status).toBe(200);
  });

  it('the body of an unknown route is not waited for, nor that of an unknown caller', async () => {
    const started = `${host}Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n[`;
    expect(await told(`POST /nothing HTTP/1.1\r\n${started}`)).toMatchObject({ status: 404 });
    expect(await told(`POST /v1/projects HTTP/1.1\r\n${started}`)).toMatchObject({ status: 401 });
  });

  it('a body that is announced is asked for, unless the request is refused before', async () => {
    const send = async (key: string): Promise<{ status: number | undefined; continued: boolean }> => {
      const body = JSON.stringify({ name: 'x'.repeat(10), notes: 'y'.repeat(500_000) });
      const headers = {
        'x-api-key': key,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      };
      const sent = request(`${platform.base}/v1/projects`, { method: 'POST', headers, timeout: 10_000 });
      let continued = false;
      sent.on('continue', () => {
        continued = true;
        sent.end(body);
      });
      sent.on('timeout', () => sent.destroy(new Error('neither 100 nor an answer')));
      sent.flushHeaders();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      sent.destroy();
      return { status: answer.statusCode, continued };
    };
    expect(await send(platform.apiKey)).toEqual({ status: 400, continued: true });
    expect(await send('svc_nobody')).toEqual({ status: 401, continued: false });
  });

  it('a caller who leaves in the middle of a body is no fault of ours', async () => {
    const { hostname, port } = new URL(platform.base);
    const socket = connect(Number(port), hostname);
    const head = `POST /v1/projects HTTP/1.1\r\n${host}X-Api-Key: ${platform.apiKey}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: 100\r\n\r\n{`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(platform.said()).not.toContain('unexpected fault');
  });

  it('text that is not UTF-8 reaches no provider, and another body with the same key is another request', async () => {
    const target = `/write/v1/projects/default/integrations/${customer.integration}/objects/contacts`;
    const latin = (name: string) =>
      Buffer.from(
        `{"groupRef":"acme","type":"create","record":{"email":"m@example.com","lastname":"${name}"}}`,
        'latin1',
      );
    const send = async (body: Buffer) => {
      const headers = {
        'x-api-key': platform.apiKey,
        'content-type': 'application/json',
        'idempotency-key': 'k1',
      };
      const answer = await rawCall(platform.base, { method: 'POST', target, headers, body });
      return { status: answer.status, body: JSON.parse(answer.body.toString()) as ProblemBody };
    };
    const refused = await send(latin('M\xfcller'));
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'malformed-json', remedy: expect.stringContaining('UTF-8') },
    });
    expect(refused.body.detail).toContain(`byte ${latin('M').indexOf('"M') + 2} `);
    const unpaired = await customer.write<ProblemBody>('contacts', {
      type: 'create',
      record: { email: '\ud800' },
    });
    expect(unpaired).toMatchObject({ status: 400, body: { issues: [{ name: 'record.email' }] } });
    // A U+FFFD that was sent is a character like any other.
    const kept = await send(Buffer.from(latin('M').toString().replace('"M"', '"M\ufffd"')));
    expect(kept).toMatchObject({ status: 200, body: { result: { data: { lastname: 'M\ufffd' } } } });
  });

  it('nothing that is answered may be kept by others, or taken for another type', async () => {
    const made = await platform.call('POST', '/projects', { name: 'headers' });
    const seen = await platform.call(
      'GET',
      `/projects/default/connections/${customer.connectionId}?includeCreds=true`,
    );
    const refused = await platform.call('GET', '/projects/nothing');
    for (const { headers } of [made, seen, refused]) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('strict-transport-security')).toBeNull();
    }
    await platform.restart('SIGTERM', { SVC_PUBLIC_URL: 'https://svc.example.com' });
    const { headers } = await platform.call('GET', '/projects/nothing');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  });
});

import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { becomeOwner, joinAs, type Browser } from '../people.ts';
import type { Platform } from '../platform.ts';
import { startRawPlatform, type RawPlatform } from '../raw-customer.ts';
import { parseMessage, startRawProvider, type RawProvider } from '../raw-message.ts';

type Headers = Record<string, string>;

/** A request whose headers have come, and whose body has not. */
interface Begun {
  /** Sends the body; answers the status, and the body of the answer. */
  end(): Promise<{ status: number; text: string }>;
}

describe('test/journeys/withdrawn-rights', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  let raw: RawPlatform;
  let platform: Platform;
  let owner: Browser;
  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    raw = await startRawPlatform(test.url, provider.url);
    platform = raw.platform;
    owner = await becomeOwner(platform);
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await platform?.stop();
    await provider?.close();
    await test?.drop();
  });

  /** Waits until the service knows its caller. */
  async function begin(
    line: string,
    headers: Headers,
    body: unknown,
    origin = platform.base,
  ): Promise<Begun> {
    const bytes = Buffer.from(JSON.stringify(body));
    const all = { host: 'x', 'content-type': 'application/json', 'content-length': bytes.length, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const { hostname, port } = new URL(origin);
    const socket: Socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`${line} HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    return {
      async end() {
        socket.write(bytes);
        const chunks: Buffer[] = [];
        for await (const chunk of socket) chunks.push(chunk as Buffer);
        const found = parseMessage(Buffer.concat(chunks), 'response', true)?.message;
        const [, status] = found?.startLine.split(' ') ?? [];
        return { status: Number(status), text: found?.body.toString() ?? '' };
      },
    };
  }
  const asBrowser = (browser: Browser): Headers => ({
    cookie: browser.cookie() ?? '',
    'sec-fetch-site': 'same-origin',
  });
  const newKey = async (label: string, scopes: string[]): Promise<{ id: string; key: string }> =>
    (
      await platform.call<{ id: string; key: string }>('POST', '/projects/default/api-keys', {
        label,
        scopes,
      })
    ).body;
  const rows = async (sql: string, values: unknown[] = []): Promise<number> =>
    (await test.database.raw(sql, values)).length;

  it('who was an owner when the headers came, and is none when the body does, is none', async () => {
    const mal = await joinAs(platform, 'mal@example.com', 'owner');
    const path = `/projects/default/members/${mal.personId}`;
    const begun = await begin(`PATCH /v1${path}`, asBrowser(mal), { role: 'owner' });
    expect((await owner.call('PATCH', path, { role: 'viewer' })).status).toBe(200);
    expect((await begun.end()).status).toBe(403);
    expect((await mal.call<{ projects: object[] }>('GET', '/session')).body.projects).toMatchObject([
      { role: 'viewer' },
    ]);
  });

  it('who was removed while the body was to come invites nobody', async () => {
    const sid = await joinAs(platform, 'sid@example.com', 'owner');
    const invitation = { email: 'friend@example.com', role: 'owner' };
    const begun = await begin('POST /v1/projects/default/invitations', asBrowser(sid), invitation);
    expect((await owner.call('DELETE', `/projects/default/members/${sid.personId}`)).status).toBe(204);
    expect((await begun.end()).status).toBe(404);
    expect(await rows(`SELECT FROM invitation WHERE email = 'friend@example.com'`)).toBe(0);
  });

  it('whose session was ended while the body was to come changes nothing', async () => {
    const ann = await joinAs(platform, 'ann@example.com', 'owner');
    const begun = await begin('POST /v1/projects/default/topics', asBrowser(ann), { name: 'late' });
    expect((await ann.call('DELETE', '/session')).status).toBe(204);
    expect((await begun.end()).status).toBe(401);
    expect(await rows(`SELECT FROM topic WHERE name = 'late'`)).toBe(0);
  });

  it.each([
    ['new', 0],
    ['in use', 1],
  ])('a key that was %s, and deleted while the body was to come, makes no other key', async (_is, uses) => {
    const { id, key } = await newKey('leaked', ['full']);
    const headers = { 'x-api-key': key };
    for (let use = 0; use < uses; use += 1)
      expect((await fetch(`${platform.base}/v1/projects/default/api-keys`, { headers })).status).toBe(200);
    const asked = { label: 'another', scopes: ['full'] };
    const begun = await begin('POST /v1/projects/default/api-keys', headers, asked);
    expect((await owner.call('DELETE', `/projects/default/api-keys/${id}`)).status).toBe(204);
    const { status, text } = await begun.end();
    expect([status, text.includes('svc_')]).toEqual([401, false]);
    expect(await rows(`SELECT FROM api_key WHERE label = 'another'`)).toBe(0);
  });

  it('a key that was narrowed while the body was to come, and known anew by then, makes no other key', async () => {
    const { id, key } = await newKey('narrowed', ['full']);
    const headers = { 'x-api-key': key };
    const asked = { label: 'wider', scopes: ['full'] };
    const begun = await begin('POST /v1/projects/default/api-keys', headers, asked);
    const change = { updateMask: ['scopes'], apiKey: { scopes: ['write'] } };
    expect((await owner.call('PATCH', `/projects/default/api-keys/${id}`, change)).status).toBe(200);
    expect((await fetch(`${platform.base}/v1/projects/default/api-keys`, { headers })).status).toBe(403);
    expect((await begun.end()).status).toBe(403);
    expect(await rows(`SELECT FROM api_key WHERE label = 'wider'`)).toBe(0);
  });

  it('a front-end token ends with its key, and with the key that made it', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signer = await platform.call<{ kid: string }>('POST', '/projects/default/jwt-keys', {
      label: 'page',
      algorithm: 'RS256',
      publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }),
    });
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { groupRef: 'acme', consumerRef: 'ada', exp: Math.floor(Date.now() / 1000) + 300 };
    const signed = `${part({ alg: 'RS256', kid: signer.body.kid })}.${part(claims)}`;
    const jwt = `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    const maker = await newKey('maker', ['full']);
    const made = await platform.call<{ token: string }>(
      'POST',
      '/projects/default/frontend-tokens',
      { groupRef: 'acme', consumerRef: 'ada' },
      { key: maker.key },
    );
    expect([signer.status, made.status]).toEqual([201, 201]);
    const tokens: [token: string, ended: string][] = [
      [jwt, `/projects/default/jwt-keys/${signer.body.kid}`],
      [made.body.token, `/projects/default/api-keys/${maker.id}`],
    ];
    for (const [token, ended] of tokens) {
      const connection = { provider: 'iterable', groupRef: 'acme', consumerRef: 'ada', apiKey: 'of-nobody' };
      const begun = await begin(
        'POST /v1/projects/default/connections:generate',
        { authorization: `Bearer ${token}` },
        connection,
      );
      expect((await owner.call('DELETE', ended)).status).toBe(204);
      expect((await begun.end()).status).toBe(401);
    }
  });

  it('the proxy sends nothing for a key that was deleted while a small body was to come', async () => {
    const { id, key } = await newKey('proxying', ['proxy']);
    const headers = { ...raw.ours, 'x-api-key': key };
    const begun = await begin('POST /late', headers, { a: 1 }, platform.proxy);
    expect((await owner.call('DELETE', `/projects/default/api-keys/${id}`)).status).toBe(204);
    expect((await begun.end()).status).toBe(401);
    expect(provider.seen).toEqual([]);
  });

  it('what came late by a right that holds is done, once', async () => {
    const { key } = await newKey('slow', ['full']);
    const begun = await begin('POST /v1/projects/default/topics', { 'x-api-key': key }, { name: 'slow' });
    expect((await begun.end()).status).toBe(201);
    const proxied = await begin('POST /slow', { ...raw.ours }, { a: 1 }, platform.proxy);
    expect((await proxied.end()).status).toBe(200);
    expect(provider.seen.map(({ startLine }) => startLine)).toEqual(['POST /slow HTTP/1.1']);
  });
});

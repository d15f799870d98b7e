import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { control, createHarness, type Harness } from './harness.fixture.ts';

/** A provider that writes down what it is asked and answers what it is told. */
async function startRecorder() {
  const seen: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const answers: { status: number; body: unknown }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    const { status, body: said } = answers.shift() ?? { status: 200, body: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, seen, answers, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('connections/generate', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let recorder: Awaited<ReturnType<typeof startRecorder>>;
  let harness: Harness;
  const base = '/v1/projects/default/connections';

  beforeAll(async () => {
    [hubspot, recorder] = await Promise.all([startHubspot({ records: 1 }), startRecorder()]);
    const { url } = recorder;
    harness = await createHarness({
      hubspot: hubspot.url,
      iterable: url,
      freshdesk: url,
      marketo: url,
      smartlead: url,
      copper: url,
      activeCampaign: url,
    });
  });
  beforeEach(() => {
    recorder.seen.length = 0;
    recorder.answers.length = 0;
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([hubspot.close(), recorder.close()]);
  });

  const generate = (body: Record<string, unknown>) =>
    harness.call('POST', `${base}:generate`, { groupRef: 'acme', consumerRef: 'ada', ...body });
  const call = async (id: string) => {
    const client = await harness.connections.client(harness.projectId, id);
    return client.send({ method: 'POST', path: '/things?page=1', body: { n: 1 } });
  };

  it('connects with a key, which goes where the provider wants it', async () => {
    const made = await generate({ provider: 'iterable', apiKey: 'key-1' });
    expect(made).toMatchObject({ status: 201, json: { authScheme: 'apiKey', status: 'created' } });
    expect(made.text).not.toContain('key-1');
    await call(made.json.id);
    expect(recorder.seen.at(-1)).toMatchObject({
      path: '/things?page=1',
      headers: { 'api-key': 'key-1' },
      body: '{"n":1}',
    });
    const shown = await harness.call('GET', `${base}/${made.json.id}?includeCreds=true`);
    expect(shown.json.apiKey).toBe('key-1');
  });

  it('appends a key to the query where the provider wants it there', async () => {
    const made = await generate({ provider: 'smartlead', apiKey: 'a&b' });
    await call(made.json.id);
    expect(recorder.seen.at(-1)!.path).toMatch(/\/things\?page=1&api_key=a%26b$/);
  });

  it('connects with user name and password', async () => {
    const made = await generate({
      provider: 'freshdesk',
      providerWorkspaceRef: 'acme',
      basicAuth: { username: 'u', password: 'p' },
    });
    expect(made).toMatchObject({ status: 201, json: { authScheme: 'basic', providerWorkspaceRef: 'acme' } });
    await call(made.json.id);
    expect(recorder.seen.at(-1)!.headers.authorization).toBe(`Basic ${btoa('u:p')}`);
  });

  it('fetches a token for client credentials at once, and again after a 401', async () => {
    recorder.answers.push({
      status: 200,
      body: { access_token: 't1', token_type: 'bearer', expires_in: '3600' },
    });
    const credentials = { clientId: 'c', clientSecret: 's' };
    const made = await generate({
      provider: 'marketo',
      providerWorkspaceRef: '123-abc',
      oauth2ClientCredentials: credentials,
    });
    expect(made).toMatchObject({ status: 201, json: { authScheme: 'oauth2/clientCredentials' } });
    const form = Object.fromEntries(new URLSearchParams(recorder.seen[0]!.body));
    expect(form).toEqual({ grant_type: 'client_credentials', client_id: 'c', client_secret: 's' });
    recorder.answers.push({ status: 401, body: {} }, { status: 200, body: { access_token: 't2' } });
    await call(made.json.id);
    expect(recorder.seen.slice(1).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      undefined,
      'Bearer t2',
    ]);
  });

  it("ends a connection with a client of the customer's for no code that nobody explained", async () => {
    recorder.answers.push({ status: 200, body: { access_token: 't1' } });
    const { json } = await generate({
      provider: 'marketo',
      groupRef: 'unexplained',
      providerWorkspaceRef: '123-abc',
      oauth2ClientCredentials: { clientId: 'c', clientSecret: 's' },
    });
    const refreshed = async (body: object) => {
      recorder.answers.push({ status: 400, body });
      await harness.connections.refresh(harness.projectId, json.id, 'force').catch(() => undefined);
      return (await harness.connections.get(harness.reach, json.id)).status;
    };
    expect(await refreshed({ error: 'maintenance_mode' })).toBe('created');
    expect(await refreshed({ error: 'invalid_client' })).toBe('bad_credentials');
  });

  it("refuses a client of the customer's that the token endpoint refuses", async () => {
    recorder.answers.push({ status: 401, body: { error: 'invalid_client' } });
    const refused = await generate({
      provider: 'marketo',
      providerWorkspaceRef: 'acme',
      oauth2ClientCredentials: { clientId: 'c', clientSecret: 'wrong' },
    });
    expect(refused).toMatchObject({ status: 422, json: { code: 'credentials-rejected' } });
    expect(refused.text).not.toContain('wrong');
  });

  it('imports tokens that the health check accepts and refuses those that it does not', async () => {
    const pair = await control(hubspot.url, 'tokens', { action: 'issue' });
    const accessToken = { token: pair['accessToken'] };
    const made = await generate({ provider: 'hubspot', oauth2AuthorizationCode: { accessToken } });
    expect(made).toMatchObject({ status: 201, json: { status: 'working' } });
    const refused = await generate({
      provider: 'hubspot',
      groupRef: 'nobody',
      oauth2AuthorizationCode: { accessToken: { token: 'made-up' } },
    });
    expect(refused).toMatchObject({ status: 422, json: { code: 'credentials-rejected' } });
    expect(await harness.list('?groupRef=nobody')).toEqual([]);
  });

  it('calls an access token without a refresh token bad after a 401 that the health check confirms', async () => {
    const pair = await control(hubspot.url, 'tokens', { action: 'issue' });
    const oauth2AuthorizationCode = { accessToken: { token: pair['accessToken'] } };
    const { json } = await generate({ provider: 'hubspot', groupRef: 'short', oauth2AuthorizationCode });
    const client = await harness.connections.client(harness.projectId, json.id);
    const fault = { path: '/integrations/v1/me', fault: { kind: 'status', status: 401, body: {} } };
    await control(hubspot.url, 'faults', fault);
    const first = await client.send({ method: 'GET', path: '/integrations/v1/me' });
    expect('answer' in first && first.answer.status).toBe(401);
    expect((await harness.connections.get(harness.reach, json.id)).status).toBe('working');
    await control(hubspot.url, 'tokens', { action: 'expire' });
    const other = harness.secondNode();
    const later = await other.client(harness.projectId, json.id);
    await expect(later.send({ method: 'GET', path: '/integrations/v1/me' })).rejects.toMatchObject({
      code: 'connection-bad-credentials',
    });
    expect((await harness.connections.get(harness.reach, json.id)).status).toBe('bad_credentials');
  });

  it('names the block that is needed', async () => {
    const refused = await generate({ provider: 'iterable', basicAuth: { username: 'u', password: 'p' } });
    expect(refused).toMatchObject({
      status: 422,
      json: { code: 'auth-scheme-mismatch', remedy: 'Send the block `apiKey`.' },
    });
    expect(await generate({ provider: 'iterable' })).toMatchObject({
      status: 422,
      json: { code: 'auth-scheme-mismatch' },
    });
    expect(await generate({ provider: 'hubspot', apiKey: 'x' })).toMatchObject({ status: 422 });
    const both = await generate({
      provider: 'iterable',
      apiKey: 'x',
      basicAuth: { username: 'u', password: 'p' },
    });
    expect(both).toMatchObject({ status: 400, json: { code: 'invalid-request' } });
    expect(await generate({ provider: 'iterable', apiKey: 'x', colour: 'red' })).toMatchObject({
      status: 400,
    });
  });

  it('changes a key by mask, keeps the id, and refuses another kind of credential', async () => {
    const { json } = await generate({ provider: 'iterable', groupRef: 'patched', apiKey: 'old' });
    const path = `${base}/${json.id}`;
    const connection = { apiKey: 'new', providerMetadata: { note: { value: 'n', source: 'input' } } };
    const patched = await harness.call('PATCH', path, { updateMask: ['apiKey'], connection });
    expect(patched).toMatchObject({ status: 200, json: { id: json.id, providerMetadata: {} } });
    await call(json.id);
    expect(recorder.seen.at(-1)!.headers['api-key']).toBe('new');
    await harness.call('PATCH', path, { updateMask: ['providerMetadata'], connection });
    const read = await harness.call('GET', path);
    expect(read.json.providerMetadata).toEqual(connection.providerMetadata);
    const other = await harness.call('PATCH', path, {
      updateMask: ['basicAuth'],
      connection: { basicAuth: { username: 'u', password: 'p' } },
    });
    expect(other).toMatchObject({ status: 422, json: { code: 'auth-scheme-mismatch' } });
    const unknown = await harness.call('PATCH', path, {
      updateMask: ['groupRef'],
      connection: { groupRef: 'x' },
    });
    expect(unknown.status).toBe(400);
  });

  it('connects with the inputs that the provider names, and with those only', async () => {
    const customAuth = { apiKey: 'k', userEmail: 'ada@example.com' };
    const made = await generate({ provider: 'copper', customAuth });
    expect(made).toMatchObject({ status: 201, json: { authScheme: 'custom' } });
    await call(made.json.id);
    expect(recorder.seen.at(-1)).toMatchObject({
      path: '/developer_api/things?page=1',
      headers: { 'x-pw-accesstoken': 'k', 'x-pw-useremail': 'ada@example.com' },
    });
    const extra = await generate({ provider: 'copper', customAuth: { ...customAuth, colour: 'red' } });
    expect(extra).toMatchObject({ status: 400, json: { issues: [{ name: 'customAuth.colour' }] } });
    const missing = await generate({ provider: 'copper', customAuth: { apiKey: 'k' } });
    expect(missing).toMatchObject({ status: 400, json: { issues: [{ name: 'customAuth.userEmail' }] } });
  });

  it('forbids a workspace that would lead to another host', async () => {
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'zendeskSupport',
      clientId: 'zd',
      clientSecret: 's',
      scopes: ['read'],
    });
    for (const providerWorkspaceRef of ['evil.com/x', 'evil.com', 'a@evil.com', 'a#', '..']) {
      const refused = await harness.call('POST', '/v1/oauth-connect', {
        projectIdOrName: 'default',
        provider: 'zendeskSupport',
        groupRef: 'acme',
        consumerRef: 'ada',
        providerWorkspaceRef,
      });
      expect(refused).toMatchObject({ status: 400, json: { issues: [{ name: 'providerWorkspaceRef' }] } });
    }
  });

  it('deletes, and ends the authorization at the provider unless another connection shares it', async () => {
    const scopes = ['oauth'];
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 's',
      scopes,
    });
    const pair = await control(hubspot.url, 'tokens', { action: 'issue' });
    const oauth2AuthorizationCode = {
      accessToken: { token: pair['accessToken'] },
      refreshToken: { token: pair['refreshToken'] },
    };
    const one = await generate({ provider: 'hubspot', groupRef: 'one', oauth2AuthorizationCode });
    const two = await generate({ provider: 'hubspot', groupRef: 'two', oauth2AuthorizationCode });
    const revocations = async () => (await control(hubspot.url, 'requests?path=revoke'))['requests'];
    expect((await harness.call('DELETE', `${base}/${one.json.id}`)).status).toBe(204);
    expect(await revocations()).toHaveLength(0);
    expect((await harness.call('DELETE', `${base}/${two.json.id}`)).status).toBe(204);
    expect(await revocations()).toHaveLength(1);
    expect((await harness.call('GET', `${base}/${two.json.id}`)).status).toBe(404);
  });

  it('hides one group from a key that is confined to another, and secrets from all but full keys', async () => {
    const mine = (await generate({ provider: 'iterable', groupRef: 'mine', apiKey: 'm' })).json.id;
    const theirs = (await generate({ provider: 'iterable', groupRef: 'theirs', apiKey: 't' })).json.id;
    const { key = '' } = await harness.projects.apiKeys.create(harness.projectId, {
      label: 'mine',
      scopes: ['frontend'],
      groupRef: 'mine',
    });
    expect((await harness.list('', key)).map(({ id }) => id)).toEqual([mine]);
    expect(await harness.list('?groupRef=theirs', key)).toEqual([]);
    expect((await harness.call('GET', `${base}/${mine}`, undefined, key)).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', `${base}/${theirs}`],
      ['DELETE', `${base}/${theirs}`],
      ['PATCH', `${base}/${theirs}`, { updateMask: ['apiKey'], connection: { apiKey: 'x' } }],
      ['PATCH', `${base}/${theirs}:oauth-update`],
      [
        'POST',
        `${base}:generate`,
        { provider: 'iterable', groupRef: 'theirs', consumerRef: 'eve', apiKey: 'x' },
      ],
      [
        'POST',
        '/v1/oauth-connect',
        { projectIdOrName: 'default', provider: 'hubspot', groupRef: 'theirs', consumerRef: 'eve' },
      ],
    ] as const) {
      expect(await harness.call(method, path, body, key), `${method} ${path}`).toMatchObject({ status: 404 });
    }
    expect((await harness.call('GET', `${base}/${mine}?includeCreds=true`, undefined, key)).status).toBe(403);
    expect((await harness.call('GET', `${base}/not-an-id`)).status).toBe(404);
    expect((await harness.call('GET', base, undefined, 'nonsense')).status).toBe(401);
  });

  it('moves a stored secret nowhere: an address changes only with credentials, which are tried there', async () => {
    const made = await generate({
      provider: 'activeCampaign',
      groupRef: 'moved',
      providerWorkspaceRef: 'acme',
      apiKey: 'secret-1',
    });
    expect(made.status).toBe(201);
    const path = `${base}/${made.json.id}`;
    const patch = (updateMask: string[], connection: object) =>
      harness.call('PATCH', path, { updateMask, connection });
    const moved = await patch(['providerWorkspaceRef'], { providerWorkspaceRef: 'evil' });
    expect(moved).toMatchObject({
      status: 400,
      json: {
        issues: [{ name: 'connection.providerWorkspaceRef' }],
        remedy: expect.stringContaining('credentials in the same updateMask'),
      },
    });
    const beside = { providerMetadata: { workspace: { value: 'evil', source: 'input' } } };
    expect(await patch(['providerMetadata'], beside)).toMatchObject({
      status: 400,
      json: { issues: [{ name: 'connection.providerMetadata.workspace' }] },
    });
    expect((await harness.call('GET', path)).json.providerWorkspaceRef).toBe('acme');
    recorder.seen.length = 0;
    const together = () =>
      patch(['providerWorkspaceRef', 'apiKey'], { providerWorkspaceRef: 'other', apiKey: 'secret-2' });
    recorder.answers.push({ status: 403, body: {} });
    expect(await together()).toMatchObject({ status: 422, json: { code: 'credentials-rejected' } });
    expect((await harness.call('GET', path)).json.providerWorkspaceRef).toBe('acme');
    expect(await together()).toMatchObject({ status: 200, json: { providerWorkspaceRef: 'other' } });
    expect(recorder.seen.map(({ headers }) => headers['api-token'])).toEqual(['secret-2', 'secret-2']);
  });

  it("lets a person's token connect and change as that person only, and see what the group has", async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const { kid } = await harness.projects.jwtKeys.create(harness.projectId, {
      label: 'front',
      algorithm: 'RS256',
      publicKeyPem: await exportSPKI(publicKey),
    });
    const token = await new SignJWT({ groupRef: 'shared', consumerRef: 'bob' })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setExpirationTime('5 minutes')
      .sign(privateKey);
    const asBob = (method: string, path: string, body?: object) =>
      harness.call(method, path, body, { authorization: `Bearer ${token}` });
    const adas = (await generate({ provider: 'iterable', groupRef: 'shared', apiKey: 'a' })).json.id;
    const key = { provider: 'iterable', groupRef: 'shared', apiKey: 'b' };
    const bobs = await asBob('POST', `${base}:generate`, { ...key, consumerRef: 'bob' });
    expect(bobs.status).toBe(201);
    const change = { updateMask: ['apiKey'], connection: { apiKey: 'x' } };
    const connect = { projectIdOrName: 'default', provider: 'hubspot', groupRef: 'shared' };
    for (const [method, path, body] of [
      ['POST', `${base}:generate`, { ...key, consumerRef: 'ada' }],
      ['POST', '/v1/oauth-connect', { ...connect, consumerRef: 'ada' }],
      ['PATCH', `${base}/${adas}`, change],
      ['PATCH', `${base}/${adas}:oauth-update`],
      ['DELETE', `${base}/${adas}`],
    ] as const) {
      expect(await asBob(method, path, body), `${method} ${path}`).toMatchObject({
        status: 403,
        json: { code: 'forbidden', detail: expect.stringContaining('consumer bob') },
      });
    }
    expect((await asBob('GET', `${base}/${adas}`)).status).toBe(200);
    expect((await asBob('PATCH', `${base}/${bobs.json.id}`, change)).status).toBe(200);
    expect((await asBob('DELETE', `${base}/${bobs.json.id}`)).status).toBe(204);
  });

  it('finds the newest connection that works as the default of a group', async () => {
    const { connections, projectId } = harness;
    const make = async (consumerRef: string) =>
      (await generate({ provider: 'iterable', groupRef: 'defaults', consumerRef, apiKey: consumerRef })).json
        .id;
    const [older, newer] = [await make('a'), await make('b')];
    expect((await connections.findDefault(harness.reach, 'defaults', 'iterable'))?.id).toBe(newer);
    await connections.markBadCredentials(projectId, newer, 1, 'test');
    expect((await connections.findDefault(harness.reach, 'defaults', 'iterable'))?.id).toBe(older);
    await connections.markBadCredentials(projectId, older, 1, 'test');
    expect((await connections.findDefault(harness.reach, 'defaults', 'iterable'))?.id).toBe(newer);
    expect(await connections.findDefault(harness.reach, 'defaults', 'hubspot')).toBeUndefined();
  });
});

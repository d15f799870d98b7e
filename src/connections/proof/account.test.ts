import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../harness.fixture.ts';

interface Answer {
  status: number;
  body: unknown;
}

/** Providers that give a token to whoever asks, and answer the other questions as told. */
async function startProvider() {
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  const server: Server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const token = { access_token: 'at', refresh_token: 'rt', expires_in: 3_600 };
    const { status, body } = answers.get(path) ?? {
      status: 200,
      body: request.method === 'POST' ? token : {},
    };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, answers, close: () => new Promise((resolve) => server.close(resolve)) };
}

const sites = '/oauth/token/accessible-resources';
const details = '/account-info/v3/details';

describe('connections/proof/account', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let harness: Harness;

  beforeAll(async () => {
    provider = await startProvider();
    const { url } = provider;
    harness = await createHarness({ jira: url, hubspot: url, zohoCrm: url, quickbooks: url, slack: url });
    for (const name of ['jira', 'hubspot', 'zohoCrm', 'quickbooks'])
      await harness.projects.providerApps.create(harness.projectId, {
        provider: name,
        clientId: 'id',
        clientSecret: 'secret',
        scopes: ['one'],
      });
  });
  beforeEach(() => {
    provider.asked.length = 0;
    provider.answers.clear();
  });
  afterAll(async () => {
    await harness.close();
    await provider.close();
  });

  /** Goes the way of the browser; `told` is what the provider adds to its redirect. */
  const connect = async (body: Record<string, unknown>, told: Record<string, string> = {}) => {
    const started = await harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      consumerRef: 'ada',
      ...body,
    });
    const state = (await harness.open(started.text)).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ ...told, code: 'c', state });
    return harness.call('GET', `/callbacks/v1/oauth?${query.toString()}`);
  };
  const jira = (groupRef: string) => connect({ provider: 'jira', groupRef, providerWorkspaceRef: 'acme' });
  const list = (groupRef: string) => harness.list(`?groupRef=${groupRef}`);

  it('takes the site that was asked for, and no other, however the case', async () => {
    const body = [
      { id: 'x-1', url: 'https://other.atlassian.net' },
      { id: 'x-2', url: 'https://Acme.atlassian.net' },
    ];
    provider.answers.set(sites, { status: 200, body });
    expect((await jira('found')).status).toBe(200);
    expect((await list('found'))[0]).toMatchObject({
      providerWorkspaceRef: 'acme',
      providerMetadata: { cloudId: { value: 'x-2', source: 'provider', displayName: 'Site' } },
    });
  });

  it.each([
    ['the account is not among those of the token', 200, [{ id: 'x-1', url: 'https://other.atlassian.net' }]],
    ['the provider refuses the question', 403, { message: 'no' }],
    ['the provider is down', 503, {}],
    ['the answer is none', 200, 'hello'],
    [
      'an id could leave its place in the address',
      200,
      [{ id: 'a/../b', url: 'https://acme.atlassian.net' }],
    ],
  ])('stores nothing when %s', async (_name, status, body) => {
    provider.answers.set(sites, { status, body });
    expect((await jira('refused')).status).toBe(400);
    expect(await list('refused')).toEqual([]);
  });

  it('asks only when the token response left something open', async () => {
    provider.answers.set(details, { status: 200, body: { portalId: 62_515 } });
    await connect({ provider: 'hubspot', groupRef: 'open' });
    expect(provider.asked).toContain(details);
    expect((await list('open'))[0]!.providerWorkspaceRef).toBe('62515');
    provider.asked.length = 0;
    const body = { access_token: 'at', hub_id: 7 };
    provider.answers.set('/oauth/2026-03/token', { status: 200, body });
    await connect({ provider: 'hubspot', groupRef: 'told' });
    expect(provider.asked).not.toContain(details);
    expect((await list('told'))[0]!.providerWorkspaceRef).toBe('7');
  });

  it('asks for imported tokens, too, and keeps a refresh token that was used although the answer is a doubt', async () => {
    provider.answers.set(details, { status: 200, body: { portalId: 9 } });
    const generate = (groupRef: string, oauth2AuthorizationCode: object) =>
      harness.call('POST', '/v1/projects/default/connections:generate', {
        provider: 'hubspot',
        groupRef,
        consumerRef: 'ada',
        oauth2AuthorizationCode,
      });
    const imported = await generate('imported', { accessToken: { token: 'at' } });
    expect(imported).toMatchObject({ status: 201, json: { providerWorkspaceRef: '9' } });
    provider.answers.set(details, { status: 500, body: {} });
    const doubtful = await generate('doubtful', { accessToken: { token: 'at' } });
    expect(doubtful).toMatchObject({ status: 502, json: { code: 'provider-unreachable' } });
    const used = await generate('used', { refreshToken: { token: 'rt-0' } });
    expect(used).toMatchObject({ status: 201, json: { status: 'created' } });
  });

  it('learns from the redirect where the token endpoint is, and believes only the hosts of the provider', async () => {
    const api = { access_token: 'at', api_domain: provider.url };
    provider.answers.set('/oauth/v2/token', { status: 200, body: api });
    const told = (server: string, groupRef: string) =>
      connect({ provider: 'zohoCrm', groupRef }, { 'accounts-server': server });
    expect((await told('https://accounts.zoho.eu', 'eu')).status).toBe(200);
    expect((await list('eu'))[0]!.providerMetadata).toMatchObject({ zohoDomain: { value: 'zoho.eu' } });
    for (const server of ['https://accounts.evil.com', 'https://accounts.zoho.com.evil.com'])
      expect((await told(server, 'evil')).status).toBe(400);
    expect(await list('evil')).toEqual([]);
  });

  it('refuses to renew a connection with another company than the redirect named', async () => {
    expect((await connect({ provider: 'quickbooks', groupRef: 'books' }, { realmId: '1' })).status).toBe(200);
    const { id } = (await list('books'))[0]!;
    const renew = async (realmId: string) => {
      const { text } = await harness.call('PATCH', `/v1/projects/default/connections/${id}:oauth-update`);
      const state = (await harness.open(text)).searchParams.get('state') ?? '';
      return harness.call('GET', `/callbacks/v1/oauth?code=c&realmId=${realmId}&state=${state}`);
    };
    expect((await renew('2')).status).toBe(400);
    expect((await renew('1')).status).toBe(200);
  });

  it('reads from its body whether a key works where the status is always 200 (Slack)', async () => {
    const generate = (groupRef: string) =>
      harness.call('POST', '/v1/projects/default/connections:generate', {
        provider: 'slack',
        groupRef,
        consumerRef: 'ada',
        oauth2AuthorizationCode: { accessToken: { token: 'xoxb-1' } },
      });
    provider.answers.set('/api/auth.test', { status: 200, body: { ok: false, error: 'invalid_auth' } });
    expect(await generate('no')).toMatchObject({ status: 422, json: { code: 'credentials-rejected' } });
    provider.answers.set('/api/auth.test', { status: 200, body: { ok: true } });
    expect(await generate('yes')).toMatchObject({ status: 201, json: { status: 'working' } });
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../harness.fixture.ts';

/** Atlassian as its file says it: a refresh token `<family>-<n>` works once, and its tokens open the family's site. */
async function startJira() {
  const uses = new Map<string, number>();
  const sites = { status: 200, of: new Map<string, string>() };
  const tokens = (refreshToken: string): [number, object] => {
    const [family = '', n = ''] = refreshToken.split('-');
    const used = uses.get(family) ?? 0;
    if (used !== Number(n))
      return [403, { error: 'unauthorized_client', error_description: 'refresh_token is invalid' }];
    uses.set(family, used + 1);
    const refresh_token = `${family}-${used + 1}`;
    return [200, { access_token: `at-${family}`, refresh_token, expires_in: 3_600 }];
  };
  const opened = (authorization = ''): [number, object] => {
    const site = sites.of.get(authorization.split('-')[1] ?? '');
    const url = `https://${site}.atlassian.net`;
    return [sites.status, sites.status === 200 && site ? [{ id: `cloud-${site}`, url }] : []];
  };
  const server: Server = createServer((request, response) => {
    void (async () => {
      let form = '';
      for await (const chunk of request) form += String(chunk);
      const [status, body] =
        request.url === '/oauth/token'
          ? tokens(new URLSearchParams(form).get('refresh_token') ?? '')
          : opened(request.headers.authorization);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, sites, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe('connections/proof/replacing', () => {
  let provider: Awaited<ReturnType<typeof startJira>>;
  let harness: Harness;
  beforeAll(async () => {
    provider = await startJira();
    harness = await createHarness({ jira: provider.url });
    const app = { provider: 'jira', clientId: 'id', clientSecret: 'secret', scopes: ['one'] };
    await harness.projects.providerApps.create(harness.projectId, app);
  });
  beforeEach(() => {
    provider.sites.status = 200;
  });
  afterAll(async () => {
    await harness.close();
    await provider.close();
  });

  const path = '/v1/projects/default/connections';
  const bring = (groupRef: string, token: string) =>
    harness.call('POST', `${path}:generate`, {
      provider: 'jira',
      groupRef,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      oauth2AuthorizationCode: { refreshToken: { token } },
    });
  /** A connection that works, and tokens of another site for its account. */
  const connected = async (groupRef: string): Promise<string> => {
    provider.sites.of.set(`${groupRef}good`, 'acme').set(`${groupRef}bad`, 'other');
    const good = await bring(groupRef, `${groupRef}good-0`);
    expect(good).toMatchObject({ status: 201, json: { status: 'working' } });
    return good.json.id;
  };
  const keptBy = async (id: string) => {
    const { json } = await harness.call('GET', `${path}/${id}?includeCreds=true&includeRefreshToken=true`);
    return json.oauth2AuthorizationCode?.refreshToken?.token;
  };

  it.each([
    ['do not open its account', 'rejected', 200, 422],
    ['could not be tried', 'unsure', 503, 502],
  ])('replaces no working credentials by tokens that %s', async (_name, groupRef, asked, refused) => {
    const id = await connected(groupRef);
    provider.sites.status = asked;
    expect(await bring(groupRef, `${groupRef}bad-0`)).toMatchObject({ status: refused });
    expect(await keptBy(id)).toBe(`${groupRef}good-1`);
    expect(await harness.list(`?groupRef=${groupRef}`)).toMatchObject([{ id, status: 'working' }]);
  });

  it('keeps in place of dead credentials what could not be tried', async () => {
    const id = await connected('dead');
    await harness.connections.markBadCredentials(harness.projectId, id, 1, 'test');
    provider.sites.status = 503;
    expect(await bring('dead', 'deadbad-0')).toMatchObject({ status: 201, json: { id, status: 'created' } });
    expect(await keptBy(id)).toBe('deadbad-1');
  });

  it('keeps what could not be tried in place of the refresh token that it came for', async () => {
    const id = await connected('same');
    provider.sites.status = 503;
    expect(await bring('same', 'samegood-1')).toMatchObject({ status: 201, json: { id } });
    expect(await keptBy(id)).toBe('samegood-2');
  });
});

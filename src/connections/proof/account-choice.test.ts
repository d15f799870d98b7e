import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../harness.fixture.ts';

const organisations = [
  { tenantId: '11111111-aaaa-4bbb-8ccc-000000000001', tenantName: 'Demo Ltd' },
  { tenantId: '11111111-aaaa-4bbb-8ccc-000000000002', tenantName: 'Real Ltd' },
];

/** A provider that lets an app into several accounts at once, as Xero does. */
describe('connections/proof/account-choice', () => {
  let server: Server;
  let harness: Harness;
  let open = organisations;
  const asked: (string | undefined)[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      asked.push(request.url);
      const token = { access_token: 'a', refresh_token: 'r', expires_in: 1800 };
      response.end(JSON.stringify(request.url === '/connections' ? open : token));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    harness = await createHarness({ xero: `http://127.0.0.1:${port}` });
    const app = { provider: 'xero', clientId: 'x', clientSecret: 's', scopes: ['accounting.transactions'] };
    await harness.projects.providerApps.create(harness.projectId, app);
  });
  afterAll(async () => {
    await harness.close();
    server.close();
  });

  /** The page at the end of a sign-in, which names the connection or the error. */
  async function connect(groupRef: string, providerWorkspaceRef?: string): Promise<string> {
    const started = await harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'xero',
      groupRef,
      consumerRef: 'ada',
      ...(providerWorkspaceRef === undefined ? {} : { providerWorkspaceRef }),
    });
    const atProvider = await harness.open(started.text);
    const state = encodeURIComponent(atProvider.searchParams.get('state') ?? '');
    return (await harness.call('GET', `/callbacks/v1/oauth?state=${state}&code=abc`)).text;
  }

  it('asks which account is meant when the credentials open several', async () => {
    const page = await connect('several');
    expect(page).toContain('providerWorkspaceRef');
    for (const { tenantId, tenantName } of organisations)
      expect(page).toContain(`${tenantName} (${tenantId})`);
    expect(await harness.list('?groupRef=several')).toEqual([]);
  });

  it('takes the one that was named, and no other', async () => {
    const { tenantId } = organisations[1]!;
    await connect('named', tenantId.toUpperCase());
    const [connection] = await harness.list('?groupRef=named');
    expect(connection?.providerMetadata).toMatchObject({ tenantId: { value: tenantId } });
    expect(await connect('stranger', '11111111-aaaa-4bbb-8ccc-000000000009')).toContain('not among those');
  });

  it('takes the only one without being told', async () => {
    open = organisations.slice(0, 1);
    await connect('only');
    const [connection] = await harness.list('?groupRef=only');
    expect(connection?.providerWorkspaceRef).toBe(organisations[0]!.tenantId);
    open = organisations;
  });

  it.each([
    ['leaves open which account is meant', 'open', {}, organisations[1]!.tenantName],
    [
      'names an account that they do not open',
      'foreign',
      { providerWorkspaceRef: '11111111-aaaa-4bbb-8ccc-000000000009' },
      'not among those',
    ],
  ])('uses no refresh token of an import that %s', async (_name, groupRef, more, said) => {
    asked.length = 0;
    const refused = await harness.call('POST', '/v1/projects/default/connections:generate', {
      provider: 'xero',
      groupRef,
      consumerRef: 'ada',
      oauth2AuthorizationCode: { accessToken: { token: 'a' }, refreshToken: { token: 'r' } },
      ...more,
    });
    expect(refused.json).toMatchObject({ status: 422, detail: expect.stringContaining(said) });
    expect(asked).toEqual(['/connections']);
    expect(await harness.list(`?groupRef=${groupRef}`)).toEqual([]);
  });
});

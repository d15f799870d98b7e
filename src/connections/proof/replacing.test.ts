import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withJira } from './jira.fixture.ts';

describe('connections/proof/replacing', () => {
  let close: () => Promise<void>;
  let provider: Awaited<ReturnType<typeof withJira>>['provider'];
  let harness: Awaited<ReturnType<typeof withJira>>['harness'];
  beforeAll(async () => {
    ({ provider, harness, close } = await withJira());
  });
  beforeEach(() => {
    provider.sites.status = 200;
  });
  afterAll(() => close());

  const path = '/v1/projects/default/connections';
  const bring = (groupRef: string, token: string, accessToken?: string) =>
    harness.call('POST', `${path}:generate`, {
      provider: 'jira',
      groupRef,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      oauth2AuthorizationCode: {
        ...(accessToken === undefined ? {} : { accessToken: { token: accessToken } }),
        refreshToken: { token },
      },
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
    const { json } = await bring(groupRef, `${groupRef}bad-0`);
    expect(json).toMatchObject({ status: refused, retryable: false });
    expect(await keptBy(id)).toBe(`${groupRef}good-1`);
    const [aside, ...others] = await harness.list(`?groupRef=${groupRef}`);
    expect(others).toMatchObject([{ id, status: 'working' }]);
    expect(aside).toMatchObject({
      status: 'bad_credentials',
      statusDetail: expect.stringContaining('did not pass their trial'),
    });
    expect(json).toMatchObject({ detail: expect.stringContaining(`is kept as connection ${aside?.id}`) });
    expect(await keptBy(aside!.id)).toBe(`${groupRef}bad-1`);
  });

  it('lets what was set aside replace them once it passes', async () => {
    const id = await connected('later');
    provider.sites.status = 503;
    await bring('later', 'laterbad-0');
    provider.sites.status = 200;
    provider.sites.of.set('laterbad', 'acme');
    expect(await bring('later', 'laterbad-1')).toMatchObject({ status: 201, json: { id } });
    expect(await keptBy(id)).toBe('laterbad-2');
    expect(await harness.list('?groupRef=later')).toMatchObject([{ id }]);
  });

  it('lets what was set aside replace them, too, where it is sent again with its access token', async () => {
    const id = await connected('whole');
    provider.sites.status = 503;
    await bring('whole', 'wholebad-0');
    provider.sites.status = 200;
    provider.sites.of.set('wholebad', 'acme');
    expect(await bring('whole', 'wholebad-1', 'at-wholebad')).toMatchObject({ status: 201, json: { id } });
    expect(await keptBy(id)).toBe('wholebad-1');
    expect(await harness.list('?groupRef=whole')).toMatchObject([{ id }]);
  });

  it('connects again what died beside tokens that were set aside', async () => {
    const id = await connected('died');
    await bring('died', 'diedbad-0');
    await harness.connections.markBadCredentials(harness.projectId, id, 1, 'test');
    expect(await bring('died', 'diedgood-1')).toMatchObject({ status: 201, json: { id } });
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

  it('keeps what the provider told of the account when it does not tell it again', async () => {
    const id = await connected('known');
    provider.sites.status = 503;
    expect(await bring('known', 'knowngood-1')).toMatchObject({
      json: { id, status: 'created', providerMetadata: { cloudId: { value: 'cloud-acme' } } },
    });
    await expect(harness.connections.shareOf(harness.projectId, id)).resolves.toEqual([provider.url]);
  });
});

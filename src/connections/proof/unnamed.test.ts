import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../providers/index.ts';
import { withJira } from './jira.fixture.ts';
import { keep, type Keeping } from './keep.ts';
import type { Proven } from './prove.ts';

/** Tokens of which nobody said whose account they open when their refresh token was used. */
describe('connections/proof/unnamed', () => {
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
  /** Of the provider that says the account. */
  const bring = (groupRef: string, token: string, more: object = {}) =>
    harness.call('POST', `${path}:generate`, {
      provider: 'linear',
      groupRef,
      consumerRef: 'ada',
      oauth2AuthorizationCode: { refreshToken: { token } },
      ...more,
    });
  const keptBy = async (id: string) => {
    const { json } = await harness.call('GET', `${path}/${id}?includeCreds=true&includeRefreshToken=true`);
    return json.oauth2AuthorizationCode?.refreshToken?.token;
  };
  /** What was stored while the provider did not say whose it is; it can be asked again. */
  const stored = async (family: string): Promise<string> => {
    provider.sites.of.set(family, 'acme');
    provider.sites.status = 503;
    const { status, json } = await bring(family, `${family}-0`);
    expect([status, json.status, json.providerWorkspaceRef]).toEqual([201, 'created', undefined]);
    provider.sites.status = 200;
    return json.id;
  };
  const working = async (family: string): Promise<string> => {
    provider.sites.of.set(family, 'acme');
    const { status, json } = await bring(family, `${family}-0`);
    expect([status, json.status, json.providerWorkspaceRef]).toEqual([201, 'working', 'acme']);
    return json.id;
  };

  it('become those of the account once it is known: no connection stays with a refresh token that was used', async () => {
    const id = await stored('found');
    expect(await bring('found', 'found-1')).toMatchObject({
      status: 201,
      json: { id, status: 'working', providerWorkspaceRef: 'acme' },
    });
    expect(await keptBy(id)).toBe('found-2');
    expect(await harness.list('?groupRef=found')).toHaveLength(1);
  });

  it('are in one connection, too, where the access token that is brought with them passes', async () => {
    const id = await stored('both');
    const both = { accessToken: { token: 'at-both' }, refreshToken: { token: 'both-1' } };
    const again = await bring('both', '', { oauth2AuthorizationCode: both });
    expect(again).toMatchObject({ status: 201, json: { id, providerWorkspaceRef: 'acme' } });
    expect(await harness.list('?groupRef=both')).toHaveLength(1);
  });

  it('are stored in the connection that is named, whatever else the person has', async () => {
    const id = await stored('named');
    provider.sites.of.set('working', 'acme');
    expect((await bring('named', 'working-0')).json.status).toBe('working');
    await harness.ground.database.raw(`UPDATE connection SET status = 'bad_credentials' WHERE id = $1`, [id]);
    const proven: Proven = {
      provider: loadCatalog().get('linear'),
      secrets: { kind: 'authorizationCode', accessToken: 'at', refreshToken: 'signed in anew' },
      providerAppId: undefined,
      workspaceRef: undefined,
      providerConsumerRef: undefined,
      authScheme: 'oauth2/authorizationCodePKCE',
      providerMetadata: {},
      scopes: undefined,
      issuedAgoMs: 0,
      expiresInMs: undefined,
      status: 'created',
      doubt: { kind: 'unsure', message: 'test', about: 'account' },
    };
    const owner = { groupRef: 'named', consumerRef: 'ada' };
    const keeping: Keeping = { owner, connectionId: id, despite: 'any', spent: 'brought' };
    expect(await keep(harness.ground, harness.projectId, proven, keeping)).toBe(id);
    expect(await keptBy(id)).toBe('signed in anew');
  });

  it('are set aside where a connection that may work may be of the account, and replace its own once they pass', async () => {
    const id = await working('beside');
    provider.sites.of.set('late', 'acme');
    provider.sites.status = 503;
    expect((await bring('beside', 'late-0')).json).toMatchObject({
      status: 502,
      detail: expect.stringContaining(`Connection ${id} keeps its credentials`),
    });
    expect(await keptBy(id)).toBe('beside-1');
    const [aside] = await harness.list('?groupRef=beside');
    expect(aside).toMatchObject({ status: 'bad_credentials' });
    expect(await keptBy(aside!.id)).toBe('late-1');
    provider.sites.status = 200;
    expect(await bring('beside', 'late-1')).toMatchObject({ status: 201, json: { id } });
    expect(await harness.list('?groupRef=beside')).toMatchObject([{ id, status: 'working' }]);
  });

  it('stay those of the account of the connection whose refresh token was brought', async () => {
    const id = await working('own');
    provider.sites.status = 503;
    expect(await bring('own', 'own-1')).toMatchObject({
      status: 201,
      json: { id, providerWorkspaceRef: 'acme' },
    });
    expect(await keptBy(id)).toBe('own-2');
  });

  it('become those of the account that is named right, after one that they do not open', async () => {
    provider.sites.of.set('typo', 'acme');
    const named = (site: string) => ({ provider: 'jira', providerWorkspaceRef: site });
    const { json } = await bring('typo', 'typo-0', named('amce'));
    expect(json).toMatchObject({ status: 'created', providerWorkspaceRef: 'amce' });
    expect(await bring('typo', 'typo-1', named('acme'))).toMatchObject({
      status: 201,
      json: { id: json.id, status: 'working', providerWorkspaceRef: 'acme' },
    });
  });

  it.each([
    ['the provider does not say', 'silent', 503, 502],
    ['it does not open', 'closed', 200, 422],
  ])(
    'are told to be those of another account than one of which %s it',
    async (_how, family, asked, refused) => {
      const named = (site: string) => ({ provider: 'jira', providerWorkspaceRef: site });
      provider.sites.of.set(family, 'acme');
      const { json } = await bring(family, `${family}-0`, named('acme'));
      provider.sites.status = asked;
      const other = await bring(family, `${family}-1`, named('other'));
      expect(other.json).toMatchObject({
        status: refused,
        retryable: false,
        detail: expect.stringContaining(`connection ${json.id} of acme, which has what came for it`),
      });
      expect(await harness.list(`?groupRef=${family}`)).toMatchObject([
        { id: json.id, providerWorkspaceRef: 'acme', providerMetadata: { cloudId: { value: 'cloud-acme' } } },
      ]);
      expect(await keptBy(json.id)).toBe(`${family}-2`);
    },
  );

  it('take no connection of another account that the same authorization opens', async () => {
    const named = (site: string) => ({ provider: 'jira', providerWorkspaceRef: site });
    provider.sites.of.set('two', 'acme');
    const { json } = await bring('two', 'two-0', named('acme'));
    provider.sites.of.set('two', 'other');
    await bring('two', 'two-1', named('other'));
    const accounts = await harness.list('?groupRef=two');
    expect(accounts.map((one) => one.providerWorkspaceRef)).toEqual(['other', 'acme']);
    expect(accounts[1]).toMatchObject({
      id: json.id,
      providerMetadata: { cloudId: { value: 'cloud-acme' } },
    });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../providers/index.ts';
import { withJira } from './jira.fixture.ts';
import { keep, type Keeping, type Tried } from './keep.ts';
import type { Proven } from './prove.ts';

/** What is used up at the provider by its import stands nowhere else. */
describe('connections/proof/imported', () => {
  let close: () => Promise<void>;
  let provider: Awaited<ReturnType<typeof withJira>>['provider'];
  let harness: Awaited<ReturnType<typeof withJira>>['harness'];
  beforeAll(async () => {
    ({ provider, harness, close } = await withJira());
  });
  beforeEach(() => {
    provider.sites.onAsked = () => Promise.resolve();
    provider.sites.idOf = (site) => `cloud-${site}`;
  });
  afterAll(() => close());

  const path = '/v1/projects/default/connections';
  const bring = (family: string, more: object = { providerWorkspaceRef: 'acme' }) => {
    provider.sites.of.set(family, 'acme');
    return harness.call('POST', `${path}:generate`, {
      provider: 'jira',
      groupRef: family,
      consumerRef: 'ada',
      oauth2AuthorizationCode: { refreshToken: { token: `${family}-0` } },
      ...more,
    });
  };
  const keptBy = async (id: string) => {
    const { json } = await harness.call('GET', `${path}/${id}?includeCreds=true&includeRefreshToken=true`);
    return json.oauth2AuthorizationCode?.refreshToken?.token;
  };

  it.each([
    ['no account', 'none', {}],
    ['a whole address for the account', 'address', { providerWorkspaceRef: 'acme.atlassian.net' }],
    [
      'an id that would leave its place in the address',
      'place',
      { providerWorkspaceRef: 'acme', providerMetadata: { cloudId: { value: 'a/../b', source: 'input' } } },
    ],
  ])('uses no refresh token where the request has %s', async (_name, family, more) => {
    expect(await bring(family, more)).toMatchObject({ status: 400, json: { code: 'invalid-request' } });
    expect(await bring(family)).toMatchObject({ status: 201, json: { status: 'working' } });
  });

  it('needs no account where the request has what the provider would be asked for', async () => {
    const more = { providerMetadata: { cloudId: { value: 'cloud-acme', source: 'input' } } };
    expect(await bring('known', more)).toMatchObject({ status: 201, json: { status: 'working' } });
  });

  it('keeps a pair whose trial cannot come to an end', async () => {
    provider.sites.idOf = () => 'a/../b';
    const made = await bring('odd');
    expect(made).toMatchObject({ status: 201, json: { status: 'created' } });
    expect(await keptBy(made.json.id)).toBe('odd-1');
  });

  it('stores a pair whose trial has no answer before a node ends that was told to', async () => {
    const asked = Promise.withResolvers<void>();
    provider.sites.onAsked = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const node = harness.secondNode();
    const made = node.generate(harness.projectId, {
      provider: 'jira',
      groupRef: 'silent',
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      oauth2AuthorizationCode: { refreshToken: { token: 'silent-0' } },
    });
    await asked.promise;
    await node.close();
    const [stored] = await harness.list('?groupRef=silent');
    expect(await keptBy(stored!.id)).toBe('silent-1');
    await expect(made).resolves.toMatchObject({ id: stored!.id });
  });

  it('stores a pair once the database is there again, and says that it waits', async () => {
    const { database } = harness.ground;
    provider.sites.onAsked = async () => {
      provider.sites.onAsked = () => Promise.resolve();
      await database.raw('ALTER TABLE customer_group RENAME TO customer_group_away');
    };
    const waits = await bring('away');
    await database.raw('ALTER TABLE customer_group_away RENAME TO customer_group');
    expect(waits.json).toMatchObject({
      code: 'database-unavailable',
      retryable: false,
      detail: expect.stringContaining('waits for the database'),
    });
    await expect.poll(() => harness.list('?groupRef=away'), { timeout: 5_000 }).toHaveLength(1);
    const [made] = await harness.list('?groupRef=away');
    expect(await keptBy(made!.id)).toBe('away-1');
  });

  /** Tokens that nobody could try. */
  const doubtful = (refreshToken: string): Proven => ({
    provider: loadCatalog().get('jira'),
    secrets: { kind: 'authorizationCode', accessToken: 'at', refreshToken },
    providerAppId: undefined,
    workspaceRef: 'acme',
    providerConsumerRef: undefined,
    authScheme: 'oauth2/authorizationCodePKCE',
    providerMetadata: {},
    scopes: undefined,
    issuedAgoMs: 0,
    expiresInMs: undefined,
    status: 'created',
    doubt: { kind: 'unsure', message: 'test', about: 'account' },
  });
  const keepFor = (groupRef: string, refreshToken: string, spent: string, tried?: Tried) => {
    const keeping: Keeping = { owner: { groupRef, consumerRef: 'ada' }, despite: 'any', spent };
    return keep(harness.ground, harness.projectId, doubtful(refreshToken), keeping, tried);
  };
  /** Stores tokens twice, as when the answer of the first time was lost; `meanwhile` is done to the connection in between. */
  async function storedTwice(groupRef: string, meanwhile: (id: string) => Promise<unknown>) {
    const tried: Tried = {};
    const first = await keepFor(groupRef, 'new', 'old', tried);
    await meanwhile(first);
    expect(await keepFor(groupRef, 'new', 'old', tried)).toBe(first);
    return harness.connections.get(harness.reach, first);
  }

  it('sets nothing aside where the refresh token of the import still holds', async () => {
    await keepFor('holds', 'new', 'old');
    await expect(keepFor('holds', 'other', 'other')).rejects.toMatchObject({ code: 'provider-unreachable' });
    expect(await harness.list('?groupRef=holds')).toHaveLength(1);
  });

  /** As if it were sealed with a master key that this node lacks. */
  const shut = (id: string) =>
    harness.ground.database.raw(`UPDATE connection SET credentials = '\\x00' WHERE id = $1`, [id]);

  it('sets tokens aside beside credentials that cannot be opened here', async () => {
    await shut(await keepFor('shut', 'new', 'old'));
    await expect(keepFor('shut', 'other', 'spent')).rejects.toMatchObject({ code: 'provider-unreachable' });
    const [aside] = await harness.list('?groupRef=shut');
    expect(await keptBy(aside!.id)).toBe('other');
  });

  it('stores tokens where others were set aside that cannot be opened here', async () => {
    const id = await keepFor('shelf', 'new', 'old');
    await expect(keepFor('shelf', 'other', 'spent')).rejects.toMatchObject({ code: 'provider-unreachable' });
    const [aside] = await harness.list('?groupRef=shelf');
    await shut(aside!.id);
    expect(await keepFor('shelf', 'newer', 'new')).toBe(id);
    expect(await keptBy(id)).toBe('newer');
  });

  it('stores once what was stored by a try whose answer was lost', async () => {
    expect(await storedTwice('twice', () => Promise.resolve())).toMatchObject({ generation: 1 });
    expect(await harness.list('?groupRef=twice')).toHaveLength(1);
  });

  it('stores anew what was not stored, however often the former ones were renewed meanwhile', async () => {
    const id = await keepFor('undone', 'new', 'old');
    const before = await harness.ground.database.raw('SELECT * FROM connection WHERE id = $1', [id]);
    const tried: Tried = {};
    await keepFor('undone', 'newer', 'new', tried);
    const [{ credentials, signed_in_at }] = before as [Record<string, unknown>];
    await harness.ground.database.raw(
      `UPDATE connection SET credentials = $2, signed_in_at = $3, generation = 9 WHERE id = $1`,
      [id, credentials, signed_in_at],
    );
    await keepFor('undone', 'newer', 'new', tried);
    expect(await keptBy(id)).toBe('newer');
  });

  it('leaves what came in its place since', async () => {
    const renew = (id: string) =>
      harness.ground.database.raw(
        `UPDATE connection SET generation = 2, credentials = '\\x00' WHERE id = $1`,
        [id],
      );
    expect(await storedTwice('renewed', renew)).toMatchObject({ generation: 2 });
  });
});

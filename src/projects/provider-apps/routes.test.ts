import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHarness, type Harness } from '../harness.fixture.ts';

const path = '/projects/default/provider-apps';
const given = {
  provider: 'hubspot',
  clientId: 'id-1',
  clientSecret: 'very-secret',
  scopes: ['crm.objects.contacts.read'],
};

describe('src/projects/provider-apps/routes', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const create = async (change: object = {}) => harness.call('POST', path, { ...given, ...change });

  it('registers an app with 200 and never shows its secret', async () => {
    const metadata = {
      authQueryParams: { optional_scope: ['a', 'b'] },
      providerParams: { installUrl: 'https://x.test' },
    };
    const { status, body } = await create({ externalRef: 'app-7', metadata });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      provider: 'hubspot',
      clientId: 'id-1',
      externalRef: 'app-7',
      metadata,
      projectId: harness.projectId,
    });
    const listed = await harness.call('GET', path);
    expect(JSON.stringify([body, listed.body])).not.toContain('very-secret');
    const stored = await harness.database.raw(
      "SELECT encode(client_secret, 'escape') AS sealed FROM provider_app",
    );
    expect(String(stored[0]!['sealed'])).not.toContain('very-secret');
  });

  it('gives the named app, or the default of the provider, with its secret to what needs it', async () => {
    const first = (await create({ clientId: 'first' })).body;
    const second = (await create({ clientId: 'second', clientSecret: 'newer' })).body;
    const { projects, projectId } = harness;
    expect(await projects.getProviderApp(projectId, 'hubspot', first.id)).toMatchObject({
      clientId: 'first',
      clientSecret: 'very-secret',
    });
    expect(await projects.getProviderApp(projectId, 'hubspot', second.id)).toEqual({
      id: second.id,
      clientId: 'second',
      clientSecret: 'newer',
      scopes: given.scopes,
      metadata: {},
    });
    await expect(projects.getProviderApp(projectId, 'salesforce')).rejects.toMatchObject({
      code: 'provider-app-missing',
    });
    await expect(projects.getProviderApp(projectId, 'salesforce', first.id)).rejects.toMatchObject({
      code: 'provider-app-missing',
    });
    await expect(projects.getProviderApp(projectId, 'hubspot', 'no-id')).rejects.toMatchObject({
      code: 'provider-app-missing',
    });
  });

  it('keeps the first app of a provider as its default until a call chooses another', async () => {
    const { status, body } = await harness.call('POST', '/projects', { name: 'chooser' });
    expect(status).toBe(201);
    const { id: projectId, apiKey } = { id: body.project?.id ?? body.id, apiKey: body.apiKey };
    const own = '/projects/chooser/provider-apps';
    const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', at: string, sent?: unknown) =>
      harness.call(method, at, sent, { key: apiKey.key });
    const make = async (clientId: string, change: object = {}) =>
      (await call('POST', own, { ...given, clientId, ...change })).body;
    const used = async (provider = 'hubspot') =>
      (await harness.projects.getProviderApp(projectId, provider)).clientId;

    const first = await make('first');
    const second = await make('second');
    expect([first.isDefault, second.isDefault]).toEqual([true, false]);
    expect(await used()).toBe('first');
    const choose = { updateMask: ['isDefault'], providerApp: { isDefault: true } };
    expect((await call('PATCH', `${own}/${second.id}`, choose)).body.isDefault).toBe(true);
    expect(await used()).toBe('second');
    const no = { updateMask: ['isDefault'], providerApp: { isDefault: false } };
    expect((await call('PATCH', `${own}/${second.id}`, no)).status).toBe(400);
    const third = await make('third', { isDefault: true });
    expect(await used()).toBe('third');
    const listed = (await call('GET', own)).body as { clientId: string; isDefault: boolean }[];
    expect(listed.filter(({ isDefault }) => isDefault).map(({ clientId }) => clientId)).toEqual(['third']);
    // The default goes to another provider, whose default stays; here the oldest is it.
    const there = await make('there', { provider: 'salesforce' });
    expect(there.isDefault).toBe(true);
    const move = { updateMask: ['provider'], providerApp: { provider: 'salesforce' } };
    expect((await call('PATCH', `${own}/${third.id}`, move)).body.isDefault).toBe(false);
    expect([await used(), await used('salesforce')]).toEqual(['first', 'there']);
    expect((await call('DELETE', `${own}/${first.id}`)).status).toBe(204);
    expect(await used()).toBe('second');
  });

  it('has one default after many were registered at once', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (clientId) =>
        create({ clientId, provider: 'pipedrive', isDefault: true }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const listed = (await harness.call('GET', path)).body as { provider: string; isDefault: boolean }[];
    expect(listed.filter((app) => app.provider === 'pipedrive' && app.isDefault)).toHaveLength(1);
  });

  it('changes what the mask names and keeps the rest, the secret included', async () => {
    const { id } = (await create({ clientId: 'masked' })).body;
    const change = {
      updateMask: ['clientId', 'scopes'],
      providerApp: { clientId: 'id-2', scopes: ['oauth'], externalRef: 'x' },
    };
    const { status, body } = await harness.call('PATCH', `${path}/${id}`, change);
    expect(status).toBe(200);
    expect(body).toMatchObject({ clientId: 'id-2', scopes: ['oauth'] });
    expect(body).not.toHaveProperty('externalRef');
    expect(await harness.projects.getProviderApp(harness.projectId, 'hubspot', id)).toMatchObject({
      clientSecret: 'very-secret',
    });
    await harness.call('PATCH', `${path}/${id}`, {
      updateMask: ['clientSecret'],
      providerApp: { clientSecret: 'turned' },
    });
    expect(await harness.projects.getProviderApp(harness.projectId, 'hubspot', id)).toMatchObject({
      clientSecret: 'turned',
    });
  });

  it('keeps one app for a client: the same one again is 409 and names the app, by a change too', async () => {
    const one = (await create({ clientId: 'twin', provider: 'pipedrive' })).body;
    const refusal = {
      status: 409,
      body: {
        code: 'already-exists',
        detail: expect.stringContaining(one.id) as string,
        providerAppId: one.id,
      },
    };
    expect(await create({ clientId: 'twin', provider: 'pipedrive', clientSecret: 'other' })).toMatchObject(
      refusal,
    );
    expect((await create({ clientId: 'twin', provider: 'salesforce' })).status).toBe(200);
    const other = (await create({ clientId: 'no-twin', provider: 'pipedrive' })).body;
    const change = (clientId: string, of: { id: string }) =>
      harness.call('PATCH', `${path}/${of.id}`, { updateMask: ['clientId'], providerApp: { clientId } });
    expect(await change('twin', other)).toMatchObject(refusal);
    expect((await change('twin', one)).status).toBe(200);
    const made = await Promise.all([1, 2, 3].map(() => create({ clientId: 'race', provider: 'pipedrive' })));
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  it('refuses scopes that were joined to one text', async () => {
    const { status, body } = await create({ scopes: ['oauth', 'oauth crm.objects.contacts.read'] });
    expect([status, body.issues[0].name]).toEqual([400, 'scopes[1]']);
    expect(body.detail).toContain('give each scope its own text');
  });

  it('wants scopes for HubSpot, also after a change, and not for others', async () => {
    const { status, body } = await create({ scopes: [] });
    expect([status, body.issues[0].name]).toEqual([400, 'scopes']);
    const other = await create({ provider: 'salesforce', scopes: undefined });
    expect(other.status).toBe(200);
    const turned = { updateMask: ['provider'], providerApp: { provider: 'hubspot' } };
    expect((await harness.call('PATCH', `${path}/${other.body.id}`, turned)).status).toBe(400);
  });

  it('refuses a provider that is not in the catalogue', async () => {
    const { status, body } = await create({ provider: 'nowhere' });
    expect([status, body.code]).toEqual([422, 'provider-unknown']);
  });

  it('refuses a provider whose accounts are connected without an app', async () => {
    for (const provider of ['iterable', 'marketo']) {
      const { status, body } = await create({ clientId: 'no-app', provider });
      expect([status, body.issues?.[0]]).toEqual([
        400,
        { in: 'body', name: 'provider', detail: expect.stringContaining('credentials of its own') as string },
      ]);
    }
    const turned = { updateMask: ['provider'], providerApp: { provider: 'iterable' } };
    const { id } = (await create({ clientId: 'turned', provider: 'salesforce' })).body;
    expect((await harness.call('PATCH', `${path}/${id}`, turned)).status).toBe(400);
  });

  it('deletes, and does not know what is not of the project', async () => {
    const { id } = (await create({ clientId: 'deleted' })).body;
    const { key } = (await harness.call('POST', '/projects', { name: 'other' })).body.apiKey;
    expect(
      (await harness.call('DELETE', `/projects/other/provider-apps/${id}`, undefined, { key })).status,
    ).toBe(404);
    expect((await harness.call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect((await harness.call('DELETE', `${path}/${id}`)).status).toBe(404);
    const change = { updateMask: ['clientId'], providerApp: { clientId: 'x' } };
    expect((await harness.call('PATCH', `${path}/${id}`, change)).status).toBe(404);
    expect((await harness.call('PATCH', `${path}/not-an-id`, change)).status).toBe(404);
  });
});

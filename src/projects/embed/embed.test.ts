import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { eraseConnectLinks } from '../index.ts';
import { openHarness, type Harness } from '../harness.fixture.ts';

const whose = { groupRef: 'acme', consumerRef: 'ada' };
const browser = (name: string): string => name.repeat(32).slice(0, 32);
const yaml =
  'specVersion: 1.0.0\nintegrations:\n  - { name: crm, provider: hubspot, proxy: { enabled: true } }\n';

describe('src/projects/embed', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
    await harness.call('PUT', '/projects/default/integrations:batch', { sourceYaml: yaml });
  });
  afterAll(() => harness.close());

  const probe = (token: string, scope = 'frontend') =>
    harness.call('GET', `/probe/${scope}`, undefined, {
      key: null,
      headers: { authorization: `Bearer ${token}` },
    });
  const makeToken = (body: object = whose, key?: string) =>
    harness.call('POST', '/projects/default/frontend-tokens', body, key === undefined ? {} : { key });
  const makeKey = async (given: object): Promise<{ id: string; key: string }> =>
    (await harness.call('POST', '/projects/default/api-keys', { label: 'k', scopes: ['full'], ...given }))
      .body;
  const makeLink = async (given: object = {}): Promise<{ id: string; text: string; url: string }> => {
    const made = await harness.call('POST', '/projects/default/connect-links', {
      integration: 'crm',
      ...whose,
      ...given,
    });
    expect([made.status, made.body.detail]).toEqual([201, undefined]);
    const { id, url } = made.body;
    return { id, url, text: new URL(url).hash.slice(1) };
  };
  const open = (link: string, by = 'a') =>
    harness.call('POST', '/connect-links:open', { link, browser: browser(by) }, { key: null });

  it('makes a token that reaches what the front end may, for one group and no longer than ten minutes', async () => {
    const made = await makeToken();
    expect(made.status).toBe(201);
    expect(made.headers['cache-control']).toBe('no-store');
    expect(Date.parse(made.body.expiresAt) - Date.now()).toBeLessThanOrEqual(600_000);
    expect((await probe(made.body.token)).body).toMatchObject({
      kind: 'jwt',
      keyId: harness.apiKey.split('_')[1],
      scopes: ['frontend'],
      ...whose,
    });
    for (const scope of ['any', 'read', 'write', 'proxy'])
      expect((await probe(made.body.token, scope)).status).toBe(403);
    for (const expiresInSeconds of [59, 601])
      expect((await makeToken({ ...whose, expiresInSeconds })).status).toBe(400);
    expect((await makeToken({ groupRef: 'acme', consumerRef: ' ada' })).status).toBe(400);
  });

  it('ends a token with its time, its key, and when a character of it is another', async () => {
    const { id, key } = await makeKey({});
    const { token } = (await makeToken(whose, key)).body;
    expect((await probe(token)).status).toBe(200);
    const other = token.at(-5) === 'A' ? 'B' : 'A';
    expect((await probe(`${token.slice(0, -5)}${other}${token.slice(-4)}`)).status).toBe(401);
    for (const bad of ['svcf_', 'svcf_AQ', `svcf_${'A'.repeat(300)}`])
      expect((await probe(bad)).status).toBe(401);
    await harness.call('PATCH', `/projects/default/api-keys/${id}`, {
      updateMask: ['active'],
      apiKey: { active: false },
    });
    expect((await probe(token)).status).toBe(401);
  });

  it('lets neither a token nor a smaller key make one, and a confined key only of its group', async () => {
    const { token } = (await makeToken()).body;
    expect((await makeToken(whose, token)).status).toBe(401);
    const asToken = { key: null, headers: { authorization: `Bearer ${token}` } };
    const again = await harness.call('POST', '/projects/default/frontend-tokens', whose, asToken);
    expect(again.status).toBe(403);
    expect((await makeToken(whose, (await makeKey({ scopes: ['frontend'] })).key)).status).toBe(403);
    const { key } = await makeKey({ groupRef: 'acme' });
    expect((await makeToken(whose, key)).status).toBe(201);
    expect((await makeToken({ ...whose, groupRef: 'globex' }, key)).status).toBe(404);
  });

  it('makes a link that opens to a token, and keeps only a hash of it', async () => {
    const { id, url, text } = await makeLink({ groupName: 'Acme', singleUse: false });
    expect(url).toBe(`http://svc.test/connect/${harness.projectId}#${text}`);
    const opened = await open(text);
    expect(opened.body).toMatchObject({
      integration: 'crm',
      groupName: 'Acme',
      ...whose,
      project: { id: harness.projectId, branding: {} },
    });
    expect((await probe(opened.body.token)).body).toMatchObject({ keyId: id, ...whose });
    expect((await open(text, 'b')).status).toBe(200);
    const kept = JSON.stringify([
      await harness.database.raw('SELECT * FROM connect_link'),
      await harness.database.raw('SELECT * FROM audit_log'),
    ]);
    expect(kept).not.toContain(text);
    expect(kept).toContain('connectLink.opened');
  });

  it('opens a link for one use in the first browser only, also when two come at once', async () => {
    const { text } = await makeLink();
    const both = await Promise.all([open(text, 'a'), open(text, 'b')]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410]);
    const [first, second] = both[0].status === 200 ? ['a', 'b'] : ['b', 'a'];
    expect((await open(text, first)).status).toBe(200);
    expect((await open(text, second)).body.code).toBe('connect-link-over');
  });

  it('ends a link that is over, unknown or taken back, and its tokens with it', async () => {
    expect((await open('nothing')).body.code).toBe('connect-link-over');
    const { id, text } = await makeLink();
    const { token } = (await open(text)).body;
    expect((await harness.call('DELETE', `/projects/default/connect-links/${id}`)).status).toBe(204);
    expect((await open(text)).status).toBe(410);
    expect((await probe(token)).status).toBe(401);
    const late = await makeLink();
    await harness.database.raw(`UPDATE connect_link SET expires_at = svc_now() WHERE id = $1`, [late.id]);
    expect((await open(late.text)).status).toBe(410);
  });

  it('ends a link with the key that made it, and its tokens with it', async () => {
    const { id: keyId, key } = await makeKey({});
    const made = await harness.call(
      'POST',
      '/projects/default/connect-links',
      { integration: 'crm', ...whose, singleUse: false },
      { key },
    );
    const text = new URL(made.body.url).hash.slice(1);
    const { token } = (await open(text)).body;
    expect((await probe(token)).status).toBe(200);
    expect((await harness.call('DELETE', `/projects/default/api-keys/${keyId}`)).status).toBe(204);
    expect((await probe(token)).status).toBe(401);
    expect((await open(text)).status).toBe(410);
  });

  it('opens as many at once as come, whatever the connections to the database and although its key is not remembered', async () => {
    const { key } = await makeKey({});
    const given = { integration: 'crm', ...whose };
    const made = await harness.call('POST', '/projects/default/connect-links', given, { key });
    const opening = {
      link: new URL(made.body.url).hash.slice(1),
      browser: browser('a'),
      address: '203.0.113.1',
      requestId: newId(),
    };
    const node = harness.createNode();
    const ends = await Promise.allSettled(Array.from({ length: 40 }, () => node.connectLinks.open(opening)));
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('opens a link on the page of its own project only', async () => {
    const { text } = await makeLink({ singleUse: false });
    const openAt = (projectId: string) =>
      harness.call(
        'POST',
        '/connect-links:open',
        { link: text, browser: browser('a'), projectId },
        { key: null },
      );
    expect((await openAt(newId())).body.code).toBe('connect-link-over');
    expect((await openAt(harness.projectId)).status).toBe(200);
  });

  it('leads back to no other origin than those of the project', async () => {
    const link = { integration: 'crm', ...whose, returnUrl: 'https://app.example.com/settings' };
    const refused = await harness.call('POST', '/projects/default/connect-links', link);
    expect(refused.body.code).toBe('return-url-not-allowed');
    await harness.call('PATCH', '/projects/default', {
      updateMask: ['allowedOrigins'],
      project: { allowedOrigins: ['https://app.example.com'] },
    });
    expect((await harness.call('POST', '/projects/default/connect-links', link)).status).toBe(201);
  });

  it('shows the branding of the project, and takes no colour that is none', async () => {
    const branding = { logoUrl: 'https://a.example.com/logo.svg', accentColor: '#0f62fe' };
    const brand = (given: object) =>
      harness.call('PATCH', '/projects/default', { updateMask: ['branding'], project: { branding: given } });
    expect((await brand(branding)).body.branding).toEqual(branding);
    expect((await open((await makeLink()).text)).body.project.branding).toEqual(branding);
    for (const bad of [{ accentColor: 'red;}' }, { logoUrl: 'javascript:alert(1)' }, { css: '' }])
      expect((await brand(bad)).status).toBe(400);
  });

  it('erases the links of a group with it, and of no other', async () => {
    await makeLink({ groupRef: 'erased' });
    const slice = {
      projectId: harness.projectId,
      groupRef: 'erased',
      after: '00000000-0000-0000-0000-000000000000',
      until: newId(),
      askedAt: 'now',
    };
    const { removed } = await harness.database.transaction((tx) => eraseConnectLinks(tx, slice, 1_000));
    expect(removed).toBe(1);
    const groups = await harness.call('GET', '/projects/default/connect-links');
    expect(groups.body.map((link: { groupRef: string }) => link.groupRef)).not.toContain('erased');
    expect(groups.body.length).toBeGreaterThan(3);
  });
});

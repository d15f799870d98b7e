import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { statement } from '../../kit/db/statement.ts';
import { control, createHarness, type Harness } from '../harness.fixture.ts';

describe('src/connections/oauth/over', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let harness: Harness;
  beforeAll(async () => {
    hubspot = await startHubspot({ records: 1 });
    harness = await createHarness({ hubspot: hubspot.url });
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 'hs-secret',
      scopes: ['oauth', 'crm.objects.contacts.read'],
    });
  });
  afterAll(async () => {
    await harness.close();
    await hubspot.close();
  });

  const start = async (body: Record<string, unknown> = {}) =>
    harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      groupRef: 'acme',
      consumerRef: 'ada',
      ...body,
    });

  it('tells whoever opens a link twice, in their language, whose page it is and the way back', async () => {
    const change = { appName: 'Mail & <Monkey>', branding: { accentColor: '#0f766e' } };
    await harness.projects.update(harness.projectId, change);
    const returnUrl = 'https://app.example.com/settings?tab=%22a%22&b=1';
    const started = await start({ returnUrl });
    const callback = await harness.visit(started.text);
    expect((await harness.call('GET', callback)).location).toContain('connectionId=');
    const who = { 'accept-language': 'fr, de-CH;q=0.8, en;q=0.7' };
    const { pathname, search } = new URL(started.text);
    for (const again of [callback, pathname + search]) {
      const page = await harness.call('GET', again, undefined, who);
      expect(page.status).toBe(400);
      expect(page.text).toContain('<html lang="de">');
      expect(page.text).toContain('Dieser Link wurde schon verwendet');
      expect(page.text).toContain('href="https://app.example.com/settings?tab=%22a%22&amp;b=1"');
      expect(page.text).toContain('Zurück zu Mail &amp; &lt;Monkey&gt;');
      expect(page.text).toContain('--accent:#0f766e');
    }
  });

  it('tells a link that came too late from one that was never made, for an hour', async () => {
    const late = await harness.visit((await start()).text);
    const isExpired = async () => (await harness.call('GET', late)).text.includes('This link has expired');
    await harness.shiftClock('11 minutes');
    expect(await isExpired()).toBe(true);
    await harness.shiftClock('60 minutes');
    await start();
    expect(await isExpired()).toBe(false);
    await harness.shiftClock('-71 minutes');
    const unknown = await harness.call('GET', '/callbacks/v1/oauth/start?flow=made-up');
    expect(unknown).toMatchObject({ status: 400, text: expect.stringContaining('does not hold any more') });
  });

  it('gives a link to one of two answers that come at once, whichever began first', async () => {
    const { database } = harness.ground;
    const callback = await harness.visit((await start({ groupRef: 'twice' })).text);
    const waiting = async (): Promise<unknown> => {
      const [row] = await database.raw(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return row?.['n'];
    };
    const answers: ReturnType<Harness['call']>[] = [];
    await database.transaction(async (tx) => {
      await tx.rows(statement('test_hold', 'SELECT FROM oauth_flow FOR UPDATE'));
      answers.push(harness.call('GET', callback));
      await expect.poll(waiting).toBe(1);
      // The one that takes its turn later began earlier.
      await harness.shiftClock('-5 seconds');
      answers.push(harness.call('GET', callback));
      await expect.poll(waiting).toBe(2);
    });
    const [first, second] = await Promise.all(answers);
    await harness.shiftClock('5 seconds');
    expect(first?.status).toBe(200);
    expect([second?.status, second?.text]).toEqual([
      400,
      expect.stringContaining('This link was used already'),
    ]);
  });

  it('records why nobody was connected, and to whom that happened', async () => {
    await control(hubspot.url, 'consent', { mode: 'deny' });
    const page = await harness.call('GET', await harness.visit((await start({ groupRef: 'denied' })).text));
    expect(page.text).toContain('Nothing was changed.');
    const entries = await harness.ground.database.raw(
      `SELECT target_id, details FROM audit_log WHERE action = 'connection.refused'`,
    );
    expect(entries).toEqual([
      {
        target_id: 'denied',
        details: {
          provider: 'hubspot',
          groupRef: 'denied',
          consumerRef: 'ada',
          reason: 'denied',
          detail: 'Access to HubSpot was not granted.',
        },
      },
    ]);
  });

  it('ends a flow whose beginning was taken back meanwhile, and asks the provider for no token', async () => {
    await control(hubspot.url, 'consent', { mode: 'approve' });
    const made = await harness.projects.apiKeys.create(harness.projectId, {
      label: 'gone',
      scopes: ['full'],
    });
    const asked = { projectIdOrName: 'default', provider: 'hubspot', groupRef: 'gone', consumerRef: 'ada' };
    const started = await harness.call('POST', '/v1/oauth-connect', asked, made.key);
    const callback = await harness.visit(started.text);
    await harness.projects.apiKeys.delete(harness.projectId, made.id);
    const page = await harness.call('GET', callback);
    expect(page.status).toBe(400);
    expect(page.text).toContain('This link was taken back');
    expect(await harness.list('?groupRef=gone')).toEqual([]);
  });

  it('sends nobody to an origin that was taken from the list meanwhile', async () => {
    const allow = (allowedOrigins: string[]) =>
      harness.projects.update(harness.projectId, { allowedOrigins });
    await allow(['https://old.example.com']);
    const returnUrl = 'https://old.example.com/settings';
    const callback = await harness.visit((await start({ groupRef: 'moved', returnUrl })).text);
    await allow([]);
    const page = await harness.call('GET', callback);
    expect(page).toMatchObject({ status: 200, location: '' });
    expect(page.text).toContain('Connected');
    const again = await harness.call('GET', callback);
    expect(again.text).toContain('This link was used already');
    expect(again.text).not.toContain('old.example.com');
  });

  it('answers a query that names something twice by a page', async () => {
    for (const query of ['?state=a&state=b', '?flow=a&flow=b&state=x', '?code=1&code=2&state=a']) {
      const page = await harness.call('GET', `/callbacks/v1/oauth${query}`);
      expect(page).toMatchObject({ status: 400, type: expect.stringContaining('text/html') });
      expect(page.text).toContain('does not hold any more');
    }
    const opened = await harness.call('GET', '/callbacks/v1/oauth/start?flow=a&flow=b');
    expect(opened).toMatchObject({ status: 400, type: expect.stringContaining('text/html') });
    const unknown = await harness.call('GET', '/callbacks/v1/oauth?state=made-up&code=1');
    expect(unknown.text).toContain('does not hold any more');
  });

  it('refuses an input that the provider does not allow before anybody is sent there', async () => {
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'zoho',
      clientId: 'zo',
      clientSecret: 'zo-secret',
      scopes: ['ZohoCRM.modules.ALL'],
    });
    const providerMetadata = { zohoDomain: { value: 'evil.example', source: 'input' } };
    const started = await start({ provider: 'zoho', providerMetadata });
    expect(started).toMatchObject({
      status: 400,
      json: { code: 'invalid-request', issues: [{ name: 'providerMetadata.zohoDomain' }] },
    });
    const allowed = { zohoDomain: { value: 'zoho.eu', source: 'input' } };
    expect((await start({ provider: 'zoho', providerMetadata: allowed })).status).toBe(200);
  });
});

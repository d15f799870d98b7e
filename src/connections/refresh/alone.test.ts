import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, tokenRequests, type Harness } from '../harness.fixture.ts';
import type { Connections } from '../index.ts';

/** A refresh token of a connection that somebody brings while it is in use. Salesforce ends the authorization when one comes twice. */
describe('connections/refresh/alone', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let harness: Harness;
  let other: Connections;
  let accounts = 0;

  beforeAll(async () => {
    [salesforce, hubspot] = await Promise.all([
      startSalesforce({ records: 1, rotation: true }),
      startHubspot({ records: 1 }),
    ]);
    harness = await createHarness({ salesforce: salesforce.url, hubspot: hubspot.url });
    for (const [provider, scopes] of [
      ['salesforce', []],
      ['hubspot', ['oauth']],
    ] as const) {
      const app = { provider, clientId: provider, clientSecret: 's', scopes: [...scopes] };
      await harness.projects.providerApps.create(harness.projectId, app);
    }
    other = harness.secondNode();
  });
  beforeEach(async () => {
    accounts += 1;
    for (const { url } of [salesforce, hubspot]) {
      await fetch(`${url}/__sim/requests`, { method: 'DELETE' });
      await fetch(`${url}/__sim/faults`, { method: 'DELETE' });
    }
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([salesforce.close(), hubspot.close()]);
  });

  /** A connection, and its refresh token brought for a group on another node. */
  async function connected(provider: 'salesforce' | 'hubspot' = 'salesforce') {
    const { url } = provider === 'hubspot' ? hubspot : salesforce;
    const pair = await control(url, 'tokens', {
      action: 'issue',
      account: `9${accounts}`,
      clientId: provider,
    });
    const refreshToken = { token: String(pair['refreshToken']) };
    const expiresAt = new Date(Date.now() + 1_800_000).toISOString();
    const accessToken = { token: String(pair['accessToken']), expiresAt };
    const asked = (groupRef: string, tokens: object) => ({
      provider,
      groupRef: `${groupRef}-${accounts}`,
      consumerRef: 'ada',
      ...(provider === 'hubspot'
        ? {}
        : {
            providerWorkspaceRef: `acme-${accounts}`,
            providerMetadata: { instance_url: { value: url, source: 'token' as const } },
          }),
      oauth2AuthorizationCode: tokens,
    });
    const { id } = await harness.connections.generate(
      harness.projectId,
      asked('its', { refreshToken, accessToken }),
    );
    return {
      id,
      bring: (groupRef: string) => other.generate(harness.projectId, asked(groupRef, { refreshToken })),
      refresh: () => harness.connections.refresh(harness.projectId, id, 'force'),
      sent: () => tokenRequests(url, 'refresh_token'),
      slowly: async () => {
        const delay = { kind: 'delay', ms: 800 };
        await control(url, 'faults', { path: 'token', times: 1, fault: delay });
      },
    };
  }
  const found = (id: string) => harness.connections.get(harness.reach, id);

  it.each(['its', 'another'])(
    'does not send it beside a refresh that is under way, nor after it was used (%s group)',
    async (groupRef) => {
      const { id, bring, refresh, sent, slowly } = await connected();
      await slowly();
      const refreshed = refresh();
      await expect.poll(sent).toBe(1);
      await expect(bring(groupRef)).rejects.toMatchObject({
        code: 'credentials-rejected',
        message: expect.stringContaining('nothing was sent'),
      });
      await refreshed;
      expect(await sent()).toBe(1);
      await refresh();
      expect(await found(id)).toMatchObject({ generation: 3, status: 'created' });
    },
  );

  it('waits for a refresh that is under way, and sends it when it was not used up', async () => {
    const { id, bring, refresh, sent, slowly } = await connected('hubspot');
    await slowly();
    const refreshed = refresh();
    await expect.poll(sent).toBe(1);
    const brought = bring('another');
    expect(await Promise.race([brought, refreshed])).toBeUndefined();
    expect(await brought).toMatchObject({ status: 'working' });
    expect(await sent()).toBe(2);
    await refresh();
    expect(await found(id)).toMatchObject({ generation: 3 });
  });

  it('lets no refresh send it while what comes for it is on its way', async () => {
    const { id, bring, refresh, sent, slowly } = await connected();
    await slowly();
    const brought = bring('its');
    await expect.poll(sent).toBe(1);
    await refresh();
    expect(await brought).toMatchObject({ id });
    expect(await sent()).toBe(1);
    expect(await found(id)).toMatchObject({ generation: 2 });
    await refresh();
    expect(await found(id)).toMatchObject({ generation: 3, status: 'created' });
  });

  it('is let go when the provider refuses it', async () => {
    const { id, bring, refresh } = await connected('hubspot');
    const body = { status: 'BAD_REFRESH_TOKEN', message: 'no' };
    await control(hubspot.url, 'faults', {
      path: 'token',
      times: 1,
      fault: { kind: 'status', status: 400, body },
    });
    await expect(bring('its')).rejects.toMatchObject({ code: 'credentials-rejected' });
    await refresh();
    expect(await found(id)).toMatchObject({ generation: 2 });
  });
});

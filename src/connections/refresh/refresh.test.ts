import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, tokenRequests, type Harness } from '../harness.fixture.ts';
import type { Connections } from '../index.ts';
import { extendRefreshLease, takeRefreshLease } from './store.ts';

describe('connections/refresh', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  let first: Connections;
  let second: Connections;

  beforeAll(async () => {
    [hubspot, salesforce] = await Promise.all([
      startHubspot({ records: 1 }),
      startSalesforce({ records: 1, rotation: true }),
    ]);
    harness = await createHarness({ hubspot: hubspot.url, salesforce: salesforce.url });
    const { projects, projectId } = harness;
    const scopes = ['oauth'];
    await projects.providerApps.create(projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 's',
      scopes,
    });
    await projects.providerApps.create(projectId, {
      provider: 'salesforce',
      clientId: 'sf',
      clientSecret: 's',
    });
    first = harness.connections;
    second = harness.secondNode();
  });
  beforeEach(async () => {
    for (const { url } of [hubspot, salesforce]) {
      await fetch(`${url}/__sim/requests`, { method: 'DELETE' });
      await fetch(`${url}/__sim/faults`, { method: 'DELETE' });
    }
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all([hubspot.close(), salesforce.close()]);
  });

  let groups = 0;
  /** A connection with tokens minted by the simulator, imported. */
  async function connect(provider: 'hubspot' | 'salesforce', expiresInMs?: number): Promise<string> {
    const simulator = provider === 'hubspot' ? hubspot.url : salesforce.url;
    const pair = await control(simulator, 'tokens', { action: 'issue', account: `9${groups}` });
    groups += 1;
    const { id } = await first.generate(harness.projectId, {
      provider,
      groupRef: `group-${groups}`,
      consumerRef: 'ada',
      ...(provider === 'salesforce'
        ? {
            providerWorkspaceRef: 'acme',
            providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
          }
        : {}),
      oauth2AuthorizationCode: {
        accessToken: {
          token: pair['accessToken'] as string,
          expiresAt: new Date(Date.now() + (expiresInMs ?? 1_800_000)).toISOString(),
        },
        refreshToken: { token: pair['refreshToken'] as string },
      },
    });
    return id;
  }
  const statusOf = async (id: string) => (await first.get(harness.reach, id)).status;
  const refreshTokenOf = async (id: string) =>
    (await first.presentWithSecrets(await first.get(harness.reach, id), true)).oauth2AuthorizationCode
      ?.refreshToken?.token;

  it('makes one token request for 50 callers on two nodes with an expired rotating token', async () => {
    const id = await connect('salesforce');
    const before = await refreshTokenOf(id);
    await harness.shiftClock('1 hour');
    const faults = { path: '/services/oauth2/token', fault: { kind: 'delay', ms: 400 } };
    await control(salesforce.url, 'faults', faults);
    const calls = Array.from({ length: 50 }, (_, index) =>
      (index % 2 ? first : second).credential(harness.projectId, id),
    );
    const credentials = await Promise.all(calls);
    await harness.shiftClock('-1 hour');
    expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(1);
    expect(new Set(credentials.map(({ headers }) => headers['authorization'])).size).toBe(1);
    expect(new Set(credentials.map(({ generation }) => generation))).toEqual(new Set([2]));
    expect(await refreshTokenOf(id)).not.toBe(before);
  });

  it('refreshes once and repeats the call once after a 401', async () => {
    const id = await connect('salesforce');
    await control(salesforce.url, 'tokens', { action: 'expire' });
    const client = await first.client(harness.projectId, id);
    const results = await Promise.all(
      Array.from({ length: 10 }, () => client.send({ method: 'GET', path: '/services/data/v60.0/limits' })),
    );
    expect(results.map((result) => 'answer' in result && result.answer.status)).toEqual(Array(10).fill(200));
    expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(1);
  });

  it('refreshes once, and passes the 401 on, when it comes back with the new token: whoever calls, on whichever node', async () => {
    const id = await connect('salesforce');
    const fault = { kind: 'status', status: 401 };
    await control(salesforce.url, 'faults', { path: '/sobjects', times: 1_000, fault });
    const clients = [await first.client(harness.projectId, id), await second.client(harness.projectId, id)];
    const call = async (client: (typeof clients)[number] | undefined) => {
      const result = await client?.send({ method: 'GET', path: '/services/data/v60.0/sobjects' });
      return result && 'answer' in result && result.answer.status;
    };
    for (let round = 0; round < 20; round += 1) expect(await call(clients[round % 2])).toBe(401);
    expect(new Set(await Promise.all(clients.flatMap((one) => Array(10).fill(one)).map(call)))).toEqual(
      new Set([401]),
    );
    expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(1);
    expect(await statusOf(id)).toBe('created');
    // A while later the token may be over for real.
    await harness.shiftClock('61 seconds');
    await fetch(`${salesforce.url}/__sim/faults`, { method: 'DELETE' });
    await control(salesforce.url, 'tokens', { action: 'expire' });
    await expect.poll(() => call(clients[0]), { timeout: 5_000 }).toBe(200);
    await harness.shiftClock('-61 seconds');
    expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(2);
  });

  describe('a renewed token that is refused, too', () => {
    const later = { code: 'provider-unreachable', retryable: true, details: { extra: { category: 'auth' } } };
    const dead = { code: 'connection-bad-credentials' };
    const client = async (node: Connections, id: string) => {
      const made = await node.client(harness.projectId, id);
      return () => made.send({ method: 'GET', path: '/services/data/v60.0/limits' });
    };
    const refuse = () =>
      control(salesforce.url, 'faults', {
        path: '/services/data',
        times: 1_000,
        fault: { kind: 'status', status: 401 },
      });
    const heal = () => fetch(`${salesforce.url}/__sim/faults`, { method: 'DELETE' });
    let shiftedS = 0;
    const pass = async (seconds: number): Promise<void> => {
      shiftedS += seconds;
      await harness.shiftClock(`${seconds} seconds`);
    };
    afterEach(async () => {
      await pass(-shiftedS);
    });
    /** Calls until the row in memory is read again. */
    const ends = (send: () => Promise<unknown>) =>
      expect.poll(() => send().catch((error: unknown) => error), { timeout: 10_000 });

    it('is condemned when the refusals last for two minutes, whichever nodes see them', async () => {
      const id = await connect('salesforce');
      await refuse();
      const [one, other] = [await client(first, id), await client(second, id)];
      for (const send of [one, one, other, other]) await expect(send()).rejects.toMatchObject(later);
      expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(1);
      expect(await statusOf(id)).toBe('created');
      await pass(70);
      await ends(async () => {
        await expect(other()).rejects.toMatchObject(later);
        return tokenRequests(salesforce.url, 'refresh_token');
      }).toBe(2);
      await pass(40);
      await expect(one()).rejects.toMatchObject(later);
      expect(await tokenRequests(salesforce.url, 'refresh_token')).toBe(2);
      expect(await statusOf(id)).toBe('created');
      await pass(30);
      await ends(one).toMatchObject(dead);
      expect(await statusOf(id)).toBe('bad_credentials');
    });

    it('is forgotten when a call is accepted in between', async () => {
      const id = await connect('salesforce');
      await refuse();
      const [one, other] = [await client(first, id), await client(second, id)];
      await expect(one()).rejects.toMatchObject(later);
      await heal();
      await ends(async () => {
        expect(await other()).toMatchObject({ answer: { status: 200 } });
        return statusOf(id);
      }).toBe('working');
      await pass(150);
      await refuse();
      await ends(async () => {
        await expect(one()).rejects.toMatchObject(later);
        return tokenRequests(salesforce.url, 'refresh_token');
      }).toBe(2);
      expect(await statusOf(id)).toBe('created');
    });

    it('is condemned at once when the token endpoint refuses', async () => {
      const id = await connect('salesforce');
      await refuse();
      const send = await client(first, id);
      await expect(send()).rejects.toMatchObject(later);
      await control(salesforce.url, 'tokens', { action: 'revoke' });
      await pass(70);
      await ends(send).toMatchObject(dead);
    });
  });

  it('stores a new pair although another node took the lease over and was refused the old one', async () => {
    const id = await connect('salesforce');
    const fault = { kind: 'delay', ms: 500 };
    await control(salesforce.url, 'faults', { path: '/services/oauth2/token', fault });
    const refreshing = first.refresh(harness.projectId, id, 'force');
    await expect
      .poll(async () => (await control(salesforce.url, 'requests?path=token'))['requests'])
      .toHaveLength(1);
    const { database } = harness.ground;
    await database.raw(`UPDATE connection SET refresh_lease = gen_random_uuid() WHERE id = $1`, [id]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await database.raw(
      `UPDATE connection SET refresh_lease = NULL, status = 'bad_credentials' WHERE id = $1`,
      [id],
    );
    await refreshing;
    expect(await first.get(harness.reach, id)).toMatchObject({ generation: 2, status: 'created' });
    await fetch(`${salesforce.url}/__sim/faults`, { method: 'DELETE' });
    await first.refresh(harness.projectId, id, 'force');
    expect(await first.get(harness.reach, id)).toMatchObject({ generation: 3, status: 'created' });
  });

  it('keeps the refresh token when the provider returns none or the same', async () => {
    const id = await connect('hubspot');
    const before = await refreshTokenOf(id);
    await first.refresh(harness.projectId, id, 'force');
    expect(await refreshTokenOf(id)).toBe(before);
    expect((await first.get(harness.reach, id)).generation).toBe(2);
  });

  it('calls credentials bad only when the provider withdrew them, and then sends nothing more', async () => {
    const id = await connect('hubspot');
    await control(hubspot.url, 'tokens', { action: 'revoke' });
    await control(hubspot.url, 'tokens', { action: 'expire' });
    const client = await first.client(harness.projectId, id);
    const send = () => client.send({ method: 'GET', path: '/integrations/v1/me' });
    await expect(send()).rejects.toMatchObject({ code: 'connection-bad-credentials' });
    expect(await statusOf(id)).toBe('bad_credentials');
    await fetch(`${hubspot.url}/__sim/requests`, { method: 'DELETE' });
    await expect(send()).rejects.toMatchObject({ code: 'connection-bad-credentials' });
    await expect(second.credential(harness.projectId, id)).rejects.toMatchObject({
      code: 'connection-bad-credentials',
    });
    expect((await control(hubspot.url, 'requests'))['requests']).toEqual([]);
  });

  it('calls them bad whatever the provider writes: also what the database cannot keep', async () => {
    const id = await connect('salesforce');
    const body = { error: 'invalid_grant', error_description: 'gone\0' };
    const fault = { kind: 'status', status: 400, body };
    await control(salesforce.url, 'faults', { path: 'oauth2/token', times: 1, fault });
    const refreshed = first.refresh(harness.projectId, id, 'force');
    await expect(refreshed).rejects.toMatchObject({ code: 'connection-bad-credentials' });
    expect(await first.get(harness.reach, id)).toMatchObject({ statusDetail: 'gone\ufffd' });
  });

  it('leaves the connection as it is when the token endpoint is down, and recovers', async () => {
    const id = await connect('hubspot');
    await control(hubspot.url, 'faults', { path: 'oauth', times: 1, fault: { kind: 'status', status: 503 } });
    const refresh = () => first.refresh(harness.projectId, id, 'force');
    await expect(refresh()).rejects.toMatchObject({ code: 'provider-unreachable' });
    expect(await statusOf(id)).toBe('working');
    await refresh();
    expect((await first.get(harness.reach, id)).generation).toBe(2);
  });

  it("does not blame the customer for the builder's client", async () => {
    const id = await connect('hubspot');
    const body = { status: 'BAD_CLIENT_SECRET', error: 'invalid_client', message: 'bad client secret' };
    await control(hubspot.url, 'faults', { path: 'oauth', fault: { kind: 'status', status: 400, body } });
    await expect(first.refresh(harness.projectId, id, 'force')).rejects.toMatchObject({
      code: 'provider-app-invalid',
    });
    expect(await statusOf(id)).toBe('working');
  });

  it('uses a token in the last part of its life while it is renewed', async () => {
    const id = await connect('hubspot');
    await harness.ground.database.raw(
      `UPDATE connection SET access_issued_at = svc_now() - interval '29 minutes', access_expires_at = svc_now() + interval '1 minute' WHERE id = $1`,
      [id],
    );
    const used = await second.credential(harness.projectId, id);
    expect(used.generation).toBe(1);
    await expect.poll(async () => (await second.credential(harness.projectId, id)).generation).toBe(2);
    expect(await tokenRequests(hubspot.url, 'refresh_token')).toBe(1);
  });

  it('takes over from a node that died with the lease', async () => {
    const id = await connect('hubspot');
    await harness.ground.database.raw(
      `UPDATE connection SET refresh_lease = gen_random_uuid(), refresh_lease_until = svc_now() + interval '300 ms' WHERE id = $1`,
      [id],
    );
    await first.refresh(harness.projectId, id, 'force');
    expect((await first.get(harness.reach, id)).generation).toBe(2);
  });

  it('extends a lease for whoever holds it, and for nobody else', async () => {
    const id = await connect('hubspot');
    const { database } = harness.ground;
    const key = [harness.projectId, id] as const;
    const [ours, theirs] = [randomUUID(), randomUUID()];
    expect(await takeRefreshLease(database, key, { generation: 1, fence: ours, forMs: 90_000 })).toBe(true);
    await harness.shiftClock('80 seconds');
    expect(await extendRefreshLease(database, key, { fence: theirs, forMs: 90_000 })).toBe(false);
    expect(await extendRefreshLease(database, key, { fence: ours, forMs: 90_000 })).toBe(true);
    await harness.shiftClock('80 seconds');
    expect(await takeRefreshLease(database, key, { generation: 1, fence: theirs, forMs: 1 })).toBe(false);
    await harness.shiftClock('11 seconds');
    expect(await takeRefreshLease(database, key, { generation: 1, fence: theirs, forMs: 1 })).toBe(true);
    expect(await extendRefreshLease(database, key, { fence: ours, forMs: 90_000 })).toBe(false);
    await harness.shiftClock('-171 seconds');
  });

  it('lets a new authorization win over a refresh that is under way', async () => {
    const id = await connect('salesforce');
    await control(salesforce.url, 'faults', {
      path: '/services/oauth2/token',
      fault: { kind: 'delay', ms: 500 },
    });
    const refreshing = first.refresh(harness.projectId, id, 'force');
    await expect
      .poll(async () => (await control(salesforce.url, 'requests?path=token'))['requests'])
      .toHaveLength(1);
    await harness.ground.database.raw(
      `UPDATE connection SET generation = 7, refresh_lease = NULL, refresh_lease_until = NULL WHERE id = $1`,
      [id],
    );
    await refreshing;
    expect((await first.get(harness.reach, id)).generation).toBe(7);
  });

  it('does not open credentials that were moved from another row', async () => {
    const [one, other] = [await connect('hubspot'), await connect('hubspot')];
    await harness.ground.database.raw(
      `UPDATE connection SET credentials = (SELECT credentials FROM connection WHERE id = $1) WHERE id = $2`,
      [one, other],
    );
    await expect(second.credential(harness.projectId, other)).rejects.toMatchObject({
      code: 'credentials-unreadable',
    });
    expect((await second.credential(harness.projectId, one)).generation).toBe(1);
  });

  it('never dials an API address that is not one of the provider', async () => {
    const id = await connect('salesforce');
    await harness.ground.database.raw(
      `UPDATE connection SET provider_metadata = '{"instance_url":{"value":"https://evil.example.com","source":"token"}}' WHERE id = $1`,
      [id],
    );
    await expect(second.credential(harness.projectId, id)).rejects.toMatchObject({
      code: 'credentials-rejected',
    });
  });

  it('does not take over a foreign API address that a token response names, but keeps its token', async () => {
    const id = await connect('salesforce');
    const body = { access_token: 'next', instance_url: 'https://evil.example.com', token_type: 'Bearer' };
    const fault = { path: '/services/oauth2/token', fault: { kind: 'status', status: 200, body } };
    await control(salesforce.url, 'faults', fault);
    await first.refresh(harness.projectId, id, 'force');
    expect(await first.credential(harness.projectId, id)).toMatchObject({
      origin: salesforce.url,
      headers: { authorization: 'Bearer next' },
    });
  });

  it('asks the database at most once a second, however many calls there are', async () => {
    const id = await connect('hubspot');
    await first.credential(harness.projectId, id);
    const before = performance.now();
    const { database } = harness.ground;
    const rows = database.rows.bind(database);
    let queries = 0;
    database.rows = (...given) => {
      queries += 1;
      return rows(...given);
    };
    for (let call = 0; call < 1_000; call += 1) await first.credential(harness.projectId, id);
    database.rows = rows;
    // The revalidation, once a second, is all that asks.
    expect(queries).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - before) / 1_000));
  });
});

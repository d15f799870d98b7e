import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, type Harness } from '../harness.fixture.ts';
import { moveConnections } from '../move-store.ts';

/** What becomes of a connection while its token is renewed. */
describe('connections/refresh/meanwhile', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  const base = '/v1/projects/default/connections';

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1, rotation: true });
    harness = await createHarness({ salesforce: salesforce.url });
    const app = { provider: 'salesforce', clientId: 'sf', clientSecret: 's' };
    await harness.projects.providerApps.create(harness.projectId, app);
  });
  afterAll(async () => {
    await harness.close();
    await salesforce.close();
  });

  const requestsTo = async (path: string) =>
    (await control(salesforce.url, `requests?path=${path}`))['requests'] as { body: string }[];

  async function connect(groupRef: string): Promise<string> {
    const pair = await control(salesforce.url, 'tokens', { action: 'issue', account: '9' });
    const { id } = await harness.connections.generate(harness.projectId, {
      provider: 'salesforce',
      groupRef,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
      oauth2AuthorizationCode: {
        accessToken: {
          token: pair['accessToken'] as string,
          expiresAt: new Date(Date.now() + 1_800_000).toISOString(),
        },
        refreshToken: { token: pair['refreshToken'] as string },
      },
    });
    await fetch(`${salesforce.url}/__sim/requests`, { method: 'DELETE' });
    return id;
  }

  /** Renews the token, and does the work while the provider makes up its answer. */
  async function during(id: string, work: () => Promise<unknown>, ms = 2_000): Promise<unknown> {
    const fault = { path: '/oauth2/token', times: 1, fault: { kind: 'delay', ms } };
    await control(salesforce.url, 'faults', fault);
    const renewed = harness.connections
      .refresh(harness.projectId, id, 'force')
      .catch((error: unknown) => error);
    const isLeased = () =>
      harness.ground.database.raw('SELECT FROM connection WHERE id = $1 AND refresh_lease IS NOT NULL', [id]);
    await expect.poll(isLeased).toHaveLength(1);
    await work();
    return renewed;
  }

  it('a description that came meanwhile stays, beside what the token answer says', async () => {
    const id = await connect('described');
    const former = { instance_url: { value: 'https://former.my.salesforce.com', source: 'token' } };
    const text = 'UPDATE connection SET provider_metadata = $2 WHERE id = $1';
    await harness.ground.database.raw(text, [id, JSON.stringify(former)]);
    const note = { value: 'ours', source: 'input' };
    const change = {
      updateMask: ['providerMetadata'],
      connection: { providerMetadata: { ...former, note } },
    };
    await during(id, async () => {
      expect(await harness.call('PATCH', `${base}/${id}`, change)).toMatchObject({ status: 200 });
    });
    const { json } = await harness.call('GET', `${base}/${id}`);
    expect(json.providerMetadata).toMatchObject({ instance_url: { value: salesforce.url }, note });
  });

  it('what is deleted meanwhile is ended at the provider with the token that comes then, too', async () => {
    const id = await connect('deleted');
    const { database } = harness.ground;
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const outcome = await during(id, async () => {
      // It is deleted while the new pair is about to be stored.
      const deleted = await database.transaction(async (tx) => {
        const finish = await harness.connections.deleteIf(tx, [harness.projectId, id], () => true);
        await expect.poll(() => database.raw(waiting), { timeout: 10_000 }).toHaveLength(1);
        return { finish };
      });
      await deleted.finish?.();
    });
    expect(outcome).toMatchObject({ code: 'not-found' });
    const revoked = (await requestsTo('oauth2/revoke')).map(({ body }) =>
      new URLSearchParams(body).get('token'),
    );
    expect(new Set(revoked).size).toBe(2);
  });

  it('what is moved away and deleted meanwhile is not ended at the provider: the other server uses it', async () => {
    const id = await connect('moved');
    const { database } = harness.ground;
    const outcome = await during(
      id,
      async () => {
        // As of a node that lost the database for longer than its lease.
        await database.raw(
          `UPDATE connection SET refresh_lease_until = svc_now() - interval '1 s' WHERE id = $1`,
          [id],
        );
        expect(await moveConnections(database, harness.projectId)).toBe(true);
        expect(await harness.call('DELETE', `${base}/${id}`)).toMatchObject({ status: 204 });
      },
      6_000,
    );
    expect(outcome).toMatchObject({ code: 'not-found' });
    expect(await requestsTo('oauth2/revoke')).toEqual([]);
  });
});

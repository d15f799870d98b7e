import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, type Harness } from '../harness.fixture.ts';
import type { Connections } from '../index.ts';

/** A provider that ends an authorization whose refresh token comes a second time. */
describe('connections/refresh/lease', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  let other: Connections;
  let accounts = 0;
  let held: Awaited<ReturnType<typeof issue>>;
  let id: string;

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1, rotation: true });
    harness = await createHarness({ salesforce: salesforce.url });
    const app = { provider: 'salesforce', clientId: 'sf', clientSecret: 's' };
    await harness.projects.providerApps.create(harness.projectId, app);
    other = harness.secondNode();
  });
  beforeEach(async () => {
    accounts += 1;
    held = await issue();
    id = await imported(held);
    await fetch(`${salesforce.url}/__sim/requests`, { method: 'DELETE' });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await harness.close();
    await salesforce.close();
  });

  async function issue() {
    const pair = await control(salesforce.url, 'tokens', { action: 'issue', account: `9${accounts}` });
    return {
      accessToken: {
        token: String(pair['accessToken']),
        expiresAt: new Date(Date.now() + 1_800_000).toISOString(),
      },
      refreshToken: { token: String(pair['refreshToken']) },
    };
  }
  async function imported(oauth2AuthorizationCode: typeof held): Promise<string> {
    const made = await other.generate(harness.projectId, {
      provider: 'salesforce',
      groupRef: 'acme',
      consumerRef: 'ada',
      providerWorkspaceRef: `acme-${accounts}`,
      providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
      oauth2AuthorizationCode,
    });
    return made.id;
  }
  const refresh = (node: Connections) => node.refresh(harness.projectId, id, 'force');
  const found = () => harness.connections.get(harness.reach, id);
  /** The refresh tokens that came to the provider. */
  async function sent(): Promise<unknown[]> {
    const { requests } = await control(salesforce.url, 'requests?path=token');
    return (requests as { body: string }[]).map(({ body }) => new URLSearchParams(body).get('refresh_token'));
  }
  /** Does the work once the database answered the statement, before whoever asked it goes on. */
  function after(name: string, work: () => Promise<unknown>): void {
    const { database } = harness.ground;
    const rows = database.rows.bind(database);
    database.rows = async (asked, ...values) => {
      const answer = await rows<never>(asked, ...values);
      if (asked.name === name) {
        database.rows = rows;
        await work();
      }
      return answer;
    };
  }

  it('sends nothing for credentials that others came in place of before they were read', async () => {
    const newer = await issue();
    after('connections_lease', () => imported(newer));
    await refresh(harness.connections);
    expect(await sent()).toEqual([]);
    expect(await found()).toMatchObject({ generation: 2 });
  });

  it('sends no refresh token once another node may have used it', async () => {
    const now = performance.now.bind(performance);
    after('connections_lease', async () =>
      after('connections_read_many', async () => {
        // This node stood still for longer than its lease, as one whose machine was paused.
        await harness.shiftClock('2 minutes');
        await refresh(other);
        vi.spyOn(performance, 'now').mockImplementation(() => now() + 120_000);
      }),
    );
    await refresh(harness.connections);
    expect(await sent()).toEqual([held.refreshToken.token]);
    expect(await found()).toMatchObject({ generation: 2, status: 'created' });
    await refresh(harness.connections);
    expect(await found()).toMatchObject({ generation: 3 });
  });

  it('sends no refresh token once the lease was not extended', async () => {
    const newer = await issue();
    after('provider_apps_get', async () => {
      await imported(newer);
      const extended = new Promise<void>((resolve) => {
        after('connections_extend_lease', async () => resolve());
      });
      vi.advanceTimersByTime(30_000);
      await extended;
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await refresh(harness.connections);
    expect(await sent()).toEqual([]);
    expect(await found()).toMatchObject({ generation: 2 });
  });
});

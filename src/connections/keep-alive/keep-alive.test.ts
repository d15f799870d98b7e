import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, tokenRequests, type Harness } from '../harness.fixture.ts';
import type { Connections } from '../index.ts';

describe('connections/keep-alive', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  let nodes: [Connections, Connections];
  const ids: string[] = [];

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1, rotation: true });
    harness = await createHarness({ salesforce: salesforce.url });
    nodes = [harness.connections, harness.secondNode()];
    const { projects, projectId } = harness;
    const app = { provider: 'salesforce', clientId: 'sf', clientSecret: 's' };
    await projects.providerApps.create(projectId, app);
    for (let at = 0; at < 30; at += 1) ids.push(await connect(at));
  });
  beforeEach(async () => {
    for (const part of ['requests', 'faults'])
      await fetch(`${salesforce.url}/__sim/${part}`, { method: 'DELETE' });
  });
  afterAll(async () => {
    await harness?.close();
    await salesforce?.close();
  });

  async function connect(at: number): Promise<string> {
    const pair = await control(salesforce.url, 'tokens', { action: 'issue', account: `user${at}` });
    const { id } = await nodes[0].generate(harness.projectId, {
      provider: 'salesforce',
      groupRef: `group-${at}`,
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
      oauth2AuthorizationCode: {
        accessToken: { token: pair['accessToken'] as string },
        refreshToken: { token: pair['refreshToken'] as string },
      },
    });
    return id;
  }
  const look = (): Promise<number[]> => Promise.all(nodes.map((node) => node.keepAlive.round()));
  const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);
  const refreshes = (): Promise<number> => tokenRequests(salesforce.url, 'refresh_token');

  it('leaves those alone that were refreshed lately', async () => {
    await harness.shiftClock('19 hours');
    expect(sum(await look())).toBe(0);
    expect(await refreshes()).toBe(0);
  });

  it('refreshes idle ones once over all nodes, spread over the last fifth of the interval', async () => {
    await harness.shiftClock('2 hours');
    const early = sum(await look());
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(ids.length);
    await harness.shiftClock('3 hours');
    expect(sum(await look())).toBe(ids.length - early);
    expect(await refreshes()).toBe(ids.length);
    for (const id of ids) {
      const { status, generation } = await nodes[0].get(harness.reach, id);
      expect([status, generation]).toEqual(['created', 2]);
    }
    expect(sum(await look())).toBe(0);
  });

  it('lets one rest whose refresh failed, and flags one that the provider ended', async () => {
    await harness.shiftClock('25 hours');
    await control(salesforce.url, 'faults', {
      path: 'oauth2/token',
      times: 100,
      fault: { kind: 'status', status: 503 },
    });
    expect(sum(await look())).toBe(ids.length);
    expect(sum(await look())).toBe(0);
    const { status, generation } = await nodes[0].get(harness.reach, ids[0]!);
    expect([status, generation]).toEqual(['created', 2]);
    await fetch(`${salesforce.url}/__sim/faults`, { method: 'DELETE' });
    await control(salesforce.url, 'tokens', { action: 'revoke' });
    await harness.shiftClock('61 minutes');
    expect(sum(await look())).toBe(ids.length);
    const all = await nodes[0].list(harness.reach, {});
    expect(new Set(all.map((one) => one.status))).toEqual(new Set(['bad_credentials']));
    await harness.shiftClock('2 days');
    expect(sum(await look())).toBe(0);
  });
});

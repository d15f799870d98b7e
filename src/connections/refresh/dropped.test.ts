import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { createLog } from '../../kit/log.ts';
import { control, createHarness, type Harness } from '../harness.fixture.ts';

describe('connections/refresh/dropped', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  let id: string;
  let accounts = 0;
  const lines: string[] = [];

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1, rotation: true });
    const log = createLog('info', { destination: { write: (line) => lines.push(line) } });
    harness = await createHarness({ salesforce: salesforce.url }, { log });
    await harness.projects.providerApps.create(harness.projectId, {
      provider: 'salesforce',
      clientId: 'sf',
      clientSecret: 's',
    });
  });
  beforeEach(async () => {
    lines.length = 0;
    accounts += 1;
    const pair = await control(salesforce.url, 'tokens', { action: 'issue', account: String(accounts) });
    const made = await harness.connections.generate(harness.projectId, {
      provider: 'salesforce',
      groupRef: 'acme',
      consumerRef: 'ada',
      providerWorkspaceRef: `acme-${accounts}`,
      providerMetadata: { instance_url: { value: salesforce.url, source: 'token' } },
      oauth2AuthorizationCode: {
        accessToken: {
          token: pair['accessToken'] as string,
          expiresAt: new Date(Date.now() + 1_800_000).toISOString(),
        },
        refreshToken: { token: pair['refreshToken'] as string },
      },
    });
    id = made.id;
  });
  afterAll(async () => {
    await harness?.close();
    await salesforce?.close();
  });

  /** Renews while something is set of the row. */
  async function renewedWhile(set: string): Promise<void> {
    await fetch(`${salesforce.url}/__sim/requests`, { method: 'DELETE' });
    const fault = { path: '/services/oauth2/token', fault: { kind: 'delay', ms: 1_000 } };
    await control(salesforce.url, 'faults', fault);
    const refreshing = harness.connections.refresh(harness.projectId, id, 'force').catch(() => undefined);
    await expect
      .poll(async () => (await control(salesforce.url, 'requests?path=token'))['requests'])
      .toHaveLength(1);
    await harness.ground.database.raw(
      `UPDATE connection SET generation = generation + 1, refresh_lease = NULL, refresh_lease_until = NULL, ${set} WHERE id = $1`,
      [id],
    );
    await refreshing;
  }
  const dropped = (): Record<string, unknown>[] =>
    lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith('new tokens were dropped'));

  it('says that new tokens are lost when the connection was moved away or replaced by an import meanwhile', async () => {
    await renewedWhile('moved_at = svc_now()');
    expect(dropped()).toMatchObject([{ level: 50, connectionId: id, groupRef: 'acme' }]);
    expect(lines.join('')).not.toContain('refresh_token');
  });

  it('takes it for no error after a new sign-in', async () => {
    await renewedWhile('moved_at = NULL, came_in = false');
    expect(dropped()).toMatchObject([{ level: 30, connectionId: id }]);
  });
});

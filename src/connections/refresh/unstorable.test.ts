import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { injectErrors, type InjectedErrors } from '../../../test/injected-errors.ts';
import { control, createHarness, tokenRequests, type Harness } from '../harness.fixture.ts';

/** One of each class that a commit may meet: of nobody's making, unexpected, of a value. */
const states = [
  '25006',
  '40001',
  '53100',
  '57014',
  '0A000',
  '42P10',
  '55000',
  'P0001',
  'XX000',
  '22008',
  '54000',
];

describe('refresh, a pair that the database does not take', () => {
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;
  let errors: InjectedErrors;

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1, rotation: true });
    harness = await createHarness({ salesforce: salesforce.url });
    const app = { provider: 'salesforce', clientId: 'sf', clientSecret: 's' };
    await harness.projects.providerApps.create(harness.projectId, app);
    errors = await injectErrors(harness.ground.database, 'connection');
  });
  afterEach(async () => {
    await errors.raise(null);
    await fetch(`${salesforce.url}/__sim/faults`, { method: 'DELETE' });
    await fetch(`${salesforce.url}/__sim/requests`, { method: 'DELETE' });
  });
  afterAll(async () => {
    await harness.close();
    await salesforce.close();
  });

  async function connect(name: string): Promise<string> {
    const pair = await control(salesforce.url, 'tokens', { action: 'issue', account: name });
    const { id } = await harness.connections.generate(harness.projectId, {
      provider: 'salesforce',
      groupRef: name,
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

  it.each(states)('is kept while the database answers %s, and stored then', async (state) => {
    const id = await connect(`state-${state}`);
    const delayed = { path: '/services/oauth2/token', times: 1, fault: { kind: 'delay', ms: 400 } };
    await control(salesforce.url, 'faults', delayed);
    const refreshed = harness.connections.refresh(harness.projectId, id, 'force');
    await expect.poll(() => tokenRequests(salesforce.url, 'refresh_token')).toBe(1);
    await errors.raise(state);
    const early = await Promise.race([
      refreshed.catch((error: unknown) => error),
      new Promise((resolve) => setTimeout(resolve, 1_200, 'waits')),
    ]);
    expect(early).toBe('waits');
    await errors.raise(null);
    await refreshed;
    expect(await harness.connections.get(harness.reach, id)).toMatchObject({
      generation: 2,
      status: 'created',
    });
    // Only the pair that came is good for another: the provider ended the one before.
    await harness.connections.refresh(harness.projectId, id, 'force');
    expect(await harness.connections.get(harness.reach, id)).toMatchObject({
      generation: 3,
      status: 'created',
    });
  });

  it.each([
    { kind: 'status', status: 503 },
    { kind: 'status', status: 401, body: { error: 'invalid_client' } },
    { kind: 'status', status: 400, body: { error: 'of_its_own' } },
  ])(
    'is asked for once in a while, not once for each 401, where the token endpoint answers $status',
    async (fault) => {
      const id = await connect(`failing-${fault.status}`);
      const refused = { path: '/services/data', times: 1_000, fault: { kind: 'status', status: 401 } };
      await control(salesforce.url, 'faults', refused);
      await control(salesforce.url, 'faults', { path: '/services/oauth2/token', times: 1_000, fault });
      const client = await harness.connections.client(harness.projectId, id);
      const failures = new Set<unknown>();
      for (let call = 0; call < 20; call += 1)
        await client
          .send({ method: 'GET', path: '/services/data/v60.0/limits' })
          .catch((error: { code?: string }) => failures.add(error.code));
      expect([...failures]).toEqual([fault.status === 401 ? 'provider-app-invalid' : 'provider-unreachable']);
      // One more after a second, and after two more.
      expect(await tokenRequests(salesforce.url, 'refresh_token')).toBeLessThan(5);
    },
  );
});

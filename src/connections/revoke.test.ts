import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { wholeProject } from '../events/index.ts';
import { control, createHarness, type Harness } from './harness.fixture.ts';

describe('connections/revoke', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspot>>;
  let harness: Harness;
  beforeAll(async () => {
    hubspot = await startHubspot({ records: 1 });
    harness = await createHarness({ hubspot: hubspot.url });
  });
  afterAll(async () => {
    await harness.close();
    await hubspot.close();
  });

  it('ends no authorization that a connection of another project shares', async () => {
    const { projects, connections, projectId } = harness;
    const { id: otherId } = await projects.create({ name: 'staging' });
    const pair = await control(hubspot.url, 'tokens', { action: 'issue' });
    const oauth2AuthorizationCode = {
      accessToken: { token: String(pair['accessToken']) },
      refreshToken: { token: String(pair['refreshToken']) },
    };
    const app = { provider: 'hubspot', clientId: 'hs', clientSecret: 's', scopes: ['oauth'] };
    const [one, other] = await Promise.all(
      [projectId, otherId].map(async (id) => {
        await projects.providerApps.create(id, app);
        const owner = { groupRef: 'acme', consumerRef: 'ada' };
        return connections.generate(id, { provider: 'hubspot', ...owner, oauth2AuthorizationCode });
      }),
    );
    const revocations = async () => (await control(hubspot.url, 'requests?path=revoke'))['requests'];
    await connections.delete(harness.reach, one!.id);
    expect(await revocations()).toEqual([]);
    await connections.refresh(otherId, other!.id, 'force');
    await connections.delete(wholeProject(otherId), other!.id);
    expect(await revocations()).toHaveLength(1);
  });
});

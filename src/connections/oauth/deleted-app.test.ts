import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from '../harness.fixture.ts';

describe('connections/oauth/deleted-app', () => {
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

  const register = () =>
    harness.projects.providerApps.create(harness.projectId, {
      provider: 'hubspot',
      clientId: 'hs',
      clientSecret: 'hs-secret',
      scopes: ['oauth'],
    });

  it('has a connection of a deleted app connected again once its token is over, by the app that there is then', async () => {
    const { projects, connections, projectId } = harness;
    const app = await register();
    const started = await harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      groupRef: 'acme',
      consumerRef: 'ada',
    });
    expect((await harness.call('GET', await harness.visit(started.text))).status).toBe(200);
    const [{ id } = { id: '' }] = await harness.list();
    await projects.providerApps.delete(projectId, app.id);
    await harness.shiftClock('1 hour');
    await expect(connections.credential(projectId, id)).rejects.toMatchObject({
      code: 'connection-bad-credentials',
      message: expect.stringContaining(
        'The provider app by which the account was connected was deleted',
      ) as string,
    });
    expect((await harness.list())[0]).toMatchObject({ status: 'bad_credentials' });

    await register();
    const again = await harness.call('PATCH', `/v1/projects/default/connections/${id}:oauth-update`);
    expect(again.status).toBe(200);
    expect((await harness.call('GET', await harness.visit(again.text))).status).toBe(200);
    await expect(connections.credential(projectId, id)).resolves.toMatchObject({
      generation: expect.any(Number) as number,
    });
    expect((await harness.list())[0]).toMatchObject({ status: 'working' });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, during, install } from '../customer.ts';
import type { Platform } from '../platform.ts';
import { below, exported, imported, startTwoServers, type TwoServers } from '../two-servers.ts';

describe('test/journeys/transfer-cleared', () => {
  let servers: TwoServers;
  let home: Platform;
  let away: Platform;

  const renewal = (id: string) =>
    away.call<{ status: string }>('GET', below(away, `/connections/${id}?refresh=force`));

  beforeAll(async () => {
    servers = await startTwoServers({ SVC_LOG_LEVEL: 'info' });
    ({ home, away } = servers);
    await deploy(home);
  });
  afterAll(() => servers?.stop());

  it('what was moved away is deleted here without ending it where it went', async () => {
    const { connectionId, installationId } = await install(home, 'hubspot-crm', 'acme');
    const other = await connect(home, 'salesforce', 'acme');
    const { file } = await exported(home, { move: true });
    expect(await imported(away, file)).toMatchObject({ status: 200, body: { created: { connections: 2 } } });
    const deleted = async (path: string): Promise<unknown> =>
      (await home.call('DELETE', below(home, path))).status;
    for (const [url, path] of [
      [home.hubspot, `/integrations/hubspot-crm/installations/${installationId}`],
      [home.salesforce, `/connections/${other}`],
    ] as const)
      expect(await during(url, () => deleted(path))).toEqual({ result: 204, requests: [] });
    expect(await home.call('GET', below(home, '/connections'))).toMatchObject({ body: [] });
    expect(await renewal(connectionId)).toMatchObject({ status: 200 });
    expect(await renewal(other)).toMatchObject({ status: 200 });
  });

  it('what came in by a file is not ended at the provider when it is deleted, unless it was signed in anew since', async () => {
    const id = await connect(home, 'salesforce', 'rehearsed');
    const { file } = await exported(home, { move: true });
    const deletedAway = () =>
      during(
        home.salesforce,
        async () => (await away.call('DELETE', below(away, `/connections/${id}`))).status,
      );
    expect((await imported(away, file)).status).toBe(200);
    expect(await home.call('POST', below(home, '/exports:undo'))).toMatchObject({ status: 200 });
    expect(await deletedAway()).toEqual({ result: 204, requests: [] });
    await expect
      .poll(() => away.said())
      .toMatch(new RegExp(`"connectionId":"${id}".*was not revoked.*came in by a file`));
    expect(await home.call('GET', below(home, `/connections/${id}?refresh=force`))).toMatchObject({
      status: 200,
    });
    expect((await imported(away, file)).status).toBe(200);
    expect(await connect(away, 'salesforce', 'rehearsed')).toBe(id);
    const { result, requests } = await deletedAway();
    expect(result).toBe(204);
    expect(requests.map(({ path }) => path)).toContainEqual(expect.stringContaining('revoke'));
  });
});

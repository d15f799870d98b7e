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
    servers = await startTwoServers();
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
});

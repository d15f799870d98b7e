import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { deploy, requestsOf } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/provider-apps', () => {
  let test: TestDatabase;
  let platform: Platform;
  let second: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    const app = { provider: 'hubspot', clientId: 'client-second', clientSecret: 'second-secret' };
    const made = await platform.call<{ id: string }>('POST', '/projects/default/provider-apps', {
      ...app,
      scopes: ['oauth', 'crm.objects.contacts.read'],
    });
    second = made.body.id;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** The client of the consent page, and that of each request for a token. */
  async function clientsDuring(work: () => Promise<string | undefined>): Promise<(string | undefined)[]> {
    const seq = (await requestsOf(platform.hubspot)).at(-1)?.seq ?? 0;
    const shown = await work();
    const asked = (await requestsOf(platform.hubspot, seq)).filter(({ path }) =>
      /oauth\/.*token$/.test(path),
    );
    return [shown, ...asked.map(({ body }) => new URLSearchParams(body).get('client_id') ?? undefined)];
  }

  const connect = (groupRef: string, more: object = {}) =>
    clientsDuring(async () => {
      const started = await platform.call('POST', '/oauth-connect', {
        projectIdOrName: 'default',
        provider: 'hubspot',
        groupRef,
        consumerRef: 'ada',
        ...more,
      });
      return consentTo(started.text);
    });
  async function consentTo(link: string): Promise<string | undefined> {
    const browser = newBrowser();
    const { next } = await browser.open(link, () => true);
    expect((await browser.open(link)).status).toBe(200);
    return next?.searchParams.get('client_id') ?? undefined;
  }
  const idOf = async (groupRef: string): Promise<string> => {
    const path = `/projects/default/connections?groupRef=${groupRef}`;
    return (await platform.call<{ id: string }[]>('GET', path)).body[0]!.id;
  };
  const chooseSecond = (isDefault: boolean) =>
    platform.call<{ isDefault: boolean }>('PATCH', `/projects/default/provider-apps/${second}`, {
      updateMask: ['isDefault'],
      providerApp: { isDefault },
    });

  it('connects with the first until another one is named, or made the default', async () => {
    expect(await connect('first')).toEqual(['client-hubspot', 'client-hubspot']);
    expect(await connect('named', { providerAppId: second })).toEqual(['client-second', 'client-second']);
    expect(await connect('still-first')).toEqual(['client-hubspot', 'client-hubspot']);
    expect(await chooseSecond(true)).toMatchObject({ status: 200, body: { isDefault: true } });
    expect(await connect('then-second')).toEqual(['client-second', 'client-second']);
  });

  it('refreshes and connects again with the app that a connection was made with', async () => {
    const id = await idOf('first');
    const refreshed = await clientsDuring(async () => {
      const path = `/projects/default/connections/${id}?includeCreds=true&refresh=force`;
      expect((await platform.call('GET', path)).status).toBe(200);
      return undefined;
    });
    expect(refreshed).toEqual([undefined, 'client-hubspot']);
    const again = await clientsDuring(async () => {
      const started = await platform.call('PATCH', `/projects/default/connections/${id}:oauth-update`);
      return consentTo(started.text);
    });
    expect(again).toEqual(['client-hubspot', 'client-hubspot']);
  });
});

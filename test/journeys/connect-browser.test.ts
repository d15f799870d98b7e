import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { deploy } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/connect-browser', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const browser = newBrowser();
  const isCallback = ({ pathname }: URL) => pathname === '/callbacks/v1/oauth';
  const start = (more: Record<string, unknown>) =>
    platform.call('POST', '/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      consumerRef: 'ada',
      ...more,
    });
  const consent = async (link: string) => (await browser.open(link, isCallback)).next ?? '';
  const list = async (query: string) =>
    (await platform.call<object[]>('GET', `/projects/${platform.projectId}/connections?${query}`)).body;

  it('only the browser that opened the link ends the flow, and an attempt from another one takes nothing from it', async () => {
    const callback = await consent((await start({ groupRef: 'bound' })).text);
    const other = await newBrowser().open(callback);
    expect(other).toMatchObject({ status: 400, text: expect.stringContaining('did not open the link') });
    expect(await list('groupRef=bound')).toEqual([]);
    expect((await browser.open(callback)).text).toContain('AUTHORIZATION_SUCCEEDED');
    // Also where the browser is sent on: the code of one consent does not end another browser's flow.
    const returnUrl = 'http://app.example/done';
    const [mine, stranger] = [(await start({ groupRef: 'mine', returnUrl })).text, newBrowser()];
    const lured = (await browser.open(mine, () => true)).next;
    const { next } = await stranger.open(lured ?? '', isCallback);
    expect(await stranger.open(next ?? '', () => true)).toMatchObject({ status: 400, next: undefined });
    expect(await list('groupRef=mine')).toEqual([]);
    const dead = await browser.open(`${platform.base}/callbacks/v1/oauth/start?flow=made-up`);
    expect(dead).toMatchObject({ status: 400, text: expect.stringContaining('AUTHORIZATION_FAILED') });
  });

  it('the browser that opens a link first keeps it, and nothing that stands in an address ends its flow', async () => {
    const link = (await start({ groupRef: 'kept' })).text;
    expect((await fetch(link, { method: 'HEAD', redirect: 'manual' })).status).not.toBe(302);
    const callback = await consent(link);
    const late = await newBrowser().open(link);
    expect(late).toMatchObject({ status: 400, next: undefined });
    expect(late.text).toContain('began in another browser');
    const state = new URL(callback).searchParams.get('state') ?? '';
    const name = createHash('sha256').update(state).digest('hex').slice(0, 24);
    for (const secret of [state, '', 'a'.repeat(43)]) {
      const headers = { cookie: `svc-oauth-${name}=${secret}` };
      expect((await fetch(callback, { headers, redirect: 'manual' })).status).toBe(400);
      expect((await fetch(link, { headers, redirect: 'manual' })).status).toBe(400);
    }
    expect(await list('groupRef=kept')).toEqual([]);
    // Whoever opened it may open it again.
    expect((await browser.open(await consent(link))).text).toContain('AUTHORIZATION_SUCCEEDED');
    expect(await list('groupRef=kept')).toHaveLength(1);
  });
});

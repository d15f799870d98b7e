import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildExample, exampleEnv } from '../../scripts/build-example.ts';
import { startChild, type Child } from '../../scripts/child.ts';
import { effects, simulator } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { launchBrowser } from './browser.ts';

const client = {
  clientId: 'mailmonkey',
  clientSecret: 'secret',
  scopes: ['oauth', 'crm.objects.contacts.read', 'crm.objects.contacts.write', 'crm.schemas.contacts.read'],
};

describe('test/browser/example', () => {
  let test: TestDatabase;
  let platform: Platform;
  let folder: string;
  let app: Child;
  let browser: Browser;
  let origin: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'svc-example-'));
    await buildExample(folder);
    platform = await startPlatform({ databaseUrl: test.url, records: 5 });
    const redirectUris = [`${platform.base}/callbacks/v1/oauth`];
    await simulator(platform.hubspot, 'POST', '/apps', { ...client, redirectUris });
    await platform.call('POST', '/projects/default/provider-apps', { provider: 'hubspot', ...client });
    app = startChild([join(folder, 'server.mjs')], {
      env: { PATH: process.env['PATH'], ...exampleEnv(folder, platform.base, platform.apiKey) },
    });
    origin = await vi.waitUntil(() => /^Mailmonkey: (.*)$/m.exec(app.said())?.[1], { timeout: 30_000 });
    browser = await launchBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await app?.end();
    await platform?.stop();
    await test?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function signIn(person: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(origin);
    await page.getByRole('button', { name: `Sign in as ${person}` }).click();
    await page.getByText('Nobody yet').waitFor();
    return page;
  }

  it('is followed by a customer: connected, delivered to, written back', { timeout: 90_000 }, async () => {
    const page = await signIn('Ada');
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('HubSpot').click();
    await button('Connect HubSpot').click();
    await page.getByRole('heading', { name: 'What should be shared?' }).waitFor();
    await button('Continue').click();
    // The name is proposed by the manifest; where mails are noted only the customer knows.
    expect(await page.getByLabel('Name (required)').inputValue()).toBe('First Name');
    await page.getByLabel('Last mail').fill('message');
    await page.getByRole('option', { name: 'message' }).first().click();
    await page.getByRole('navigation').getByText('Review').click();
    await button('Finish setup').click();
    await page.getByRole('heading', { name: 'All set' }).waitFor();
    await button('Subscribers').click();
    await page.getByRole('row').nth(5).waitFor();
    const row = page.getByRole('row').nth(1);
    const [name, email] = await row.getByRole('cell').allTextContents();
    expect([name, email]).toEqual([expect.stringMatching(/\w/), expect.stringContaining('@')]);
    await row.getByRole('button').click();
    await row.getByRole('cell', { name: 'Welcome', exact: true }).waitFor();
    const written = await effects(platform.hubspot, 'contacts');
    expect(written.at(-1)).toMatchObject({ kind: 'update', fields: { message: 'Welcome' } });
  });

  it('shows one customer nothing of another, and gives no token to whoever has not signed in', async () => {
    const page = await signIn('Grace');
    expect(await page.getByRole('row').count()).toBe(0);
    expect((await fetch(`${origin}/api/svc-token`, { method: 'POST' })).status).toBe(401);
    const forged = await fetch(`${origin}/webhooks/svc`, {
      method: 'POST',
      headers: {
        'webhook-id': 'a',
        'webhook-timestamp': `${Math.floor(Date.now() / 1_000)}`,
        'webhook-signature': 'v1,AAAA',
      },
      body: '{"groupRef":"globex","objectName":"subscribers","result":[]}',
    });
    expect(forged.status).toBe(401);
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { deploy, simulator } from '../customer.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { buildApp, startApp, type App } from './app-server.ts';
import { launchBrowser } from './browser.ts';
import { startOwnProviders, writeProviders, type OwnProviders } from './own-providers.ts';

const run = promisify(execFile);

/** The product, a builder's application, and a browser. */
export interface World {
  platform: Platform;
  own: OwnProviders;
  browser: Browser;
  app: App;
  /** The same application with React 18. */
  appBefore: App;
  /** The application's page, shown to a group. */
  open(query: Record<string, string>, of?: App): Promise<Page>;
  /** An empty page in a browser of its own. */
  emptyPage(options?: BrowserContextOptions): Promise<Page>;
  link(given: Record<string, unknown>): Promise<string>;
  /** Errors that no page caught. */
  faults: Error[];
  /** Closes all pages: each asks on, and takes of the machine. */
  leave(): Promise<void>;
  /** Removes what customers connected, so that a second try of a test finds its customers as the first did. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    displayName: HubSpot CRM
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields:
            - fieldName: email
            - mapToName: nickname
              mapToDisplayName: Nickname
              prompt: Which field holds what you call the person?
          optionalFields:
            - mapToName: phone
              mapToDisplayName: Phone
            - mapToName: company
              mapToDisplayName: Company
          optionalFieldsAuto: all
          backfill: { defaultPeriod: { days: 0 } }
        - objectName: companies
          mapToDisplayName: Companies
          destination: inbox
          requiredFields: [{ fieldName: name }]
    write:
      objects:
        - objectName: contacts
          inheritMapping: true
        - objectName: companies
  - name: salesforce-crm
    displayName: Salesforce
    provider: salesforce
    read:
      objects:
        - objectName: Contact
          destination: inbox
          requiredFields: [{ fieldName: LastName }]
          optionalFieldsAuto: all
    write:
      objects: [{ objectName: Contact }, { objectName: Account }]
  - { name: by-key, provider: keyed, proxy: { enabled: true } }
  - { name: by-password, provider: pairs, proxy: { enabled: true } }
  - { name: by-client, provider: machines, proxy: { enabled: true } }
  - { name: by-grant, provider: olden, proxy: { enabled: true } }
  - { name: by-custom, provider: custom, proxy: { enabled: true } }
  - { name: by-signing, provider: salesforceJWT, proxy: { enabled: true } }
`;

/** Without `databaseUrl` on a database of its own. */
export async function startWorld(databaseUrl?: string): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-browser-'));
  await writeProviders(folder);
  const own = await startOwnProviders();
  // One after the other: each takes all of a small machine.
  await run(process.execPath, ['scripts/node.mjs', 'scripts/build-pages.ts']);
  await buildApp(19, join(folder, 'now'));
  await buildApp(18, join(folder, 'before'));
  const platform = await startPlatform({
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    records: 5,
    env: { SVC_PROVIDERS_DIR: folder },
    origins: own.origins,
  });
  // There is one account, which the customers of all tests have in common.
  await simulator(platform.hubspot, 'POST', '/quotas', { burstMax: null });
  const browser = await launchBrowser();
  await deploy(platform, manifest);
  await platform.call('POST', `/projects/default/destinations`, {
    name: 'inbox',
    type: 'webhook',
    metadata: { url: 'http://127.0.0.1:9/' },
  });
  const [app, appBefore] = [
    await startApp(platform, join(folder, 'now')),
    await startApp(platform, join(folder, 'before')),
  ];
  await platform.call('PATCH', '/projects/default', {
    updateMask: ['allowedOrigins', 'appName', 'branding'],
    project: {
      appName: 'Mailmonkey',
      allowedOrigins: [app.url, appBefore.url],
      branding: { accentColor: '#0f766e', accentColorDark: '#5eead4' },
    },
  });
  const faults: Error[] = [];
  const emptyPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await (await browser.newContext({ locale: 'en-US', ...options })).newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => faults.push(error));
    return page;
  };
  return {
    faults,
    emptyPage,
    platform,
    own,
    browser,
    app,
    appBefore,
    async open(query, of = app) {
      const page = await emptyPage({ viewport: { width: 1_000, height: 900 } });
      const asked = {
        base: platform.base,
        project: platform.projectId,
        integration: 'hubspot-crm',
        ...query,
      };
      await page.goto(`${of.url}/?${new URLSearchParams(asked).toString()}`);
      return page;
    },
    async link(given) {
      const body = { integration: 'hubspot-crm', consumerRef: 'ada', ...given };
      const made = await platform.call<{ url: string }>('POST', '/projects/default/connect-links', body);
      if (made.status !== 201) throw new Error(made.text);
      return made.body.url;
    },
    async leave() {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async forget() {
      const all = async <Thing>(of: string) =>
        (await platform.call<Thing[]>('GET', `/projects/default/${of}`)).body;
      const remove = async (path: string): Promise<void> => {
        const { status, text } = await platform.call('DELETE', `/projects/default/${path}`);
        if (status >= 300) throw new Error(text);
      };
      for (const { id, integrationId } of await all<{ id: string; integrationId: string }>('installations'))
        await remove(`integrations/${integrationId}/installations/${id}`);
      for (const { id } of await all<{ id: string }>('connections')) await remove(`connections/${id}`);
    },
    async close() {
      await browser.close();
      await Promise.all([app.close(), appBefore.close()]);
      await platform.stop();
      await own.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What the person decides on the provider's page from now on. */
export async function consent(url: string, mode: 'approve' | 'deny' | 'page'): Promise<void> {
  await simulator(url, 'POST', '/consent', { mode });
}

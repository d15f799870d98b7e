import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { deploy, install, type Customer } from '../../customer.ts';
import { startOidcServer, type OidcServer } from '../../oidc-server.ts';
import { startPlatform, type Platform } from '../../platform.ts';
import { launchBrowser } from '../browser.ts';

/** The product with a customer whose records are written, and somebody who looks at it in a browser. */
export interface ConsoleWorld {
  platform: Platform;
  /** Of its database, where a test made it. */
  databaseUrl: string | undefined;
  browser: Browser;
  customer: Customer;
  /** An OpenID provider where people may sign in, too. */
  elsewhere: OidcServer;
  /** The link of the first start. */
  welcome: string;
  /** A page at the path, signed in as the first user unless `as` is another context. */
  open: (path: string, as?: BrowserContext) => Promise<Page>;
  /** A browser in which nobody is signed in. */
  stranger: () => Promise<BrowserContext>;
  /** Closes what a walk left open. */
  leave: () => Promise<void>;
  /** What was thrown in a page, or refused by its policy. */
  faults: string[];
  close(): Promise<void>;
}

/** A part of the walk through the console: each stands in a file of its own, listed in `console.test.ts`. */
export type Walk = (world: ConsoleWorld) => Promise<void>;

export const first = { email: 'ada@example.com', name: 'Ada Lovelace', password: 'correct horse battery' };

const run = promisify(execFile);
const require = createRequire(import.meta.url);

export async function startConsole(databaseUrl?: string): Promise<ConsoleWorld> {
  await run(process.execPath, ['scripts/node.mjs', 'scripts/build-pages.ts', 'console']);
  const elsewhere = await startOidcServer();
  const platform = await startPlatform({
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    records: 5,
    env: {
      SVC_OIDC_ISSUER: elsewhere.issuer,
      SVC_OIDC_CLIENT_ID: elsewhere.clientId,
      SVC_OIDC_CLIENT_SECRET: elsewhere.clientSecret,
      SVC_OIDC_NAME: 'Acme',
    },
  });
  await elsewhere.begin(`${platform.base}/callbacks/v1/oidc`);
  await platform.call('POST', '/projects/default/destinations', {
    name: 'd',
    type: 'webhook',
    metadata: { url: 'http://127.0.0.1:9/' },
  });
  await deploy(platform);
  const customer = await install(platform, 'hubspot-crm', 'acme', {
    write: { objects: { contacts: { objectName: 'contacts' }, companies: { objectName: 'companies' } } },
  });
  const browser = await launchBrowser();
  const faults: string[] = [];
  const stranger = async (): Promise<BrowserContext> => {
    const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1_360, height: 860 } });
    context.setDefaultTimeout(15_000);
    context.on('weberror', (error) => faults.push(String(error.error().stack)));
    context.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
    });
    return context;
  };
  const mine = await stranger();
  const open = async (path: string, as = mine): Promise<Page> => {
    const page = await as.newPage();
    await page.goto(platform.base + path);
    return page;
  };
  const [, file = ''] = /first user signs in is in (\S+);/.exec(platform.said()) ?? [];
  const welcome = (await readFile(file, 'utf8')).trim();
  await enterByLink(await mine.newPage(), welcome);
  return {
    platform,
    databaseUrl,
    browser,
    customer,
    elsewhere,
    welcome,
    open,
    stranger,
    faults,
    async leave() {
      await Promise.all(browser.contexts().flatMap((context) => context.pages().map((page) => page.close())));
    },
    async close() {
      await browser.close();
      await platform.stop();
      await elsewhere.close();
    },
  };
}

/** A browser in which somebody is signed in who was invited with this role, or is a member since a first try of the walk. */
export async function enterAs(
  { platform, stranger }: ConsoleWorld,
  role: string,
  email = `${role}@roles.example`,
): Promise<{ context: BrowserContext; personId: string }> {
  const invited = await platform.call<{ url: string }>('POST', '/projects/default/invitations', {
    email,
    role,
  });
  const context = await stranger();
  const enter = async (path: string, data: object): Promise<string> => {
    const headers = { origin: platform.base };
    const entered = await context.request.post(`${platform.base}/v1/${path}`, { data, headers });
    const { person } = (await entered.json()) as { person: { id: string } };
    return person.id;
  };
  const { password } = first;
  if (invited.status === 409) return { context, personId: await enter('session', { email, password }) };
  const token = new URLSearchParams(new URL(invited.body.url).hash.slice(1)).get('token');
  const personId = await enter('invitations:accept', { token, password, name: `A ${role}` });
  return { context, personId };
}

/** Makes the first user by the link of the first start. */
async function enterByLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('E-mail').fill(first.email);
  await page.getByLabel('Name').fill(first.name);
  await page.getByLabel('Password').fill(first.password);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForURL('**/projects/default/**');
  await page.close();
}

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** The serious and critical violations that axe finds, in light and in dark. */
export async function barriers(page: Page): Promise<string[]> {
  const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(axe);
    const violations = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
    for (const { id, impact, nodes } of violations)
      if (['serious', 'critical'].includes(impact))
        found.push(...nodes.map(({ html }) => `${colorScheme}: ${id}: ${html.slice(0, 300)}`));
  }
  return found;
}

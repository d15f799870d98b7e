import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newBrowser } from '../../../simulator/browser.ts';
import { hostile } from '../../../ui/embed/gallery/hostile.ts';
import { deploy, fault, manifest } from '../../customer.ts';
import { everyPage } from './every-page.ts';
import type { ConsoleWorld, Walk } from './world.ts';

/** Each kind of text once, without the characters that names refuse. */
const kinds = hostile
  .slice(0, 25)
  .map((text) => text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '').trim());

interface Seen {
  ran: boolean;
  width: number;
  title: string;
}

const look = `({
  ran: 'executed' in window,
  width: document.documentElement.scrollWidth,
  title: document.querySelector('h1')?.textContent ?? '',
})`;

/** Names and records in hostile texts are shown on every page as what they are: nothing of them runs or breaks the page. */
export const hostileShown: Walk = async (world) => {
  const customer = await hostileCustomer(world);
  await hostileWork(world, customer.groupRef);
  await hostileProject(world);
  const page = await world.open('/projects');
  const paths = await everyPage({ ...world, customer: { ...world.customer, ...customer } });
  const filtered = `/projects/default/operations?groupRef=${encodeURIComponent(customer.groupRef)}`;
  const all = [...paths, filtered].map((path) => world.platform.base + path);
  expect(await crawled(page, all)).toEqual([]);
  expect(await page.getByText(customer.groupRef).count()).toBeGreaterThan(0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'What to look for' }).fill(customer.groupRef);
  await page.getByRole('option').first().waitFor();
  expect(await page.evaluate(`'executed' in window`)).toBe(false);
  await page.close();
};

/** Opens the addresses, and answers what is wrong with each page. */
export async function crawled(
  page: Page,
  addresses: readonly string[],
): Promise<[address: string, what: string][]> {
  const width = page.viewportSize()?.width ?? 0;
  const broken: [address: string, what: string][] = [];
  for (const address of addresses) {
    await page.goto(address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    const seen = await page.evaluate<Seen>(look);
    if (seen.ran) broken.push([address, 'ran a script of a text']);
    if (seen.width > width) broken.push([address, `is ${seen.width} wide`]);
    if (/not found|went wrong/i.test(seen.title)) broken.push([address, seen.title]);
  }
  return broken;
}

async function made<Body>(
  { platform }: ConsoleWorld,
  method: string,
  path: string,
  body: unknown,
): Promise<Body> {
  const answer = await platform.call<Body>(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** A customer whose every name is hostile, with an installation. */
async function hostileCustomer(
  world: ConsoleWorld,
): Promise<{ groupRef: string; connectionId: string; installationId: string }> {
  await deploy(world.platform, manifest);
  const [groupRef = '', consumerRef = '', groupName = '', consumerName = ''] = chunks(150);
  const started = await world.platform.call('POST', '/oauth-connect', {
    projectIdOrName: 'default',
    provider: 'hubspot',
    groupRef,
    consumerRef,
    groupName,
    consumerName,
  });
  expect((await newBrowser().open(started.text)).status).toBe(200);
  const { id, connection } = await made<{ id: string; connection: { id: string } }>(
    world,
    'POST',
    '/projects/default/integrations/hubspot-crm/installations',
    {
      groupRef,
      config: {
        content: {
          provider: 'hubspot',
          write: {
            objects: {
              contacts: {
                objectName: 'contacts',
                selectedValueDefaults: { lastname: { value: kinds[1], applyOnUpdate: 'always' } },
              },
            },
          },
        },
      },
    },
  );
  return { groupRef, connectionId: connection.id, installationId: id };
}

/** Records of all 500 texts, and a provider that answers with some of them. */
async function hostileWork(world: ConsoleWorld, groupRef: string): Promise<void> {
  const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
  const write = async (body: object): Promise<object> => {
    const { status, body: answer } = await world.platform.call<object>('POST', path, { groupRef, ...body });
    return { status, ...answer };
  };
  for (let from = 0; from < hostile.length; from += 100) {
    const texts = hostile.slice(from, from + 100);
    const batch = texts.map((text) => ({ record: { firstname: text, ...keyedBy(text) } }));
    // Those that stand alone in their record are written.
    const failureCount = texts.filter((text) => text !== noKey).length;
    const answer = await write({ type: 'create', batch });
    expect(answer).toMatchObject({ operationId: expect.any(String), failureCount });
  }
  await fault(world.platform.hubspot, {
    path: '/contacts',
    fault: { kind: 'status', status: 400, body: { message: kinds.join(' '), [kinds[0] ?? '']: kinds } },
  });
  const last = await write({ type: 'create', record: { email: kinds[0], firstname: kinds.join(' ') } });
  expect(last).toMatchObject({
    status: 422,
    operationId: expect.any(String),
    errors: [{ category: 'validation' }],
  });
}

/** A body with such a key is refused altogether. */
const noKey = '__proto__';
const keyedBy = (text: string): Record<string, string> => (text === noKey ? {} : { [text]: text });

/** Hostile names for everything of a project that has one. */
async function hostileProject(world: ConsoleWorld): Promise<void> {
  const post = <Body>(noun: string, body: unknown): Promise<Body> =>
    made(world, 'POST', `/projects/default/${noun}`, body);
  for (const label of kinds) await post('api-keys', { label });
  for (const [index, text] of chunks(150).entries())
    await post('provider-apps', {
      provider: 'hubspot',
      clientId: text,
      clientSecret: text,
      externalRef: `${index} ${text}`,
      scopes: kinds.map((kind) => kind.replaceAll(/\s/g, '') || 'x'),
    });
  const email = `${(kinds[0] ?? '').replaceAll('@', '')}@example.com`;
  const { url } = await post<{ url: string }>('invitations', { email, role: 'viewer' });
  const context = await world.stranger();
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel('Name').fill(kinds[2] ?? '');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForURL('**/projects/default/**');
  expect(await page.evaluate(`'executed' in window`)).toBe(false);
  await context.close();
  await post('invitations', { email: `2${email}`, role: 'viewer' });
  await made(world, 'PATCH', '/projects/default', {
    updateMask: ['appName'],
    project: { appName: chunks(100)[0] },
  });
}

/** All kinds joined, cut into texts of that length. */
function chunks(length: number): string[] {
  const all = kinds.join(' ');
  const count = Math.floor(all.length / length);
  return Array.from({ length: count }, (_, index) =>
    all
      .slice(index * length, (index + 1) * length)
      .toWellFormed()
      .trim(),
  );
}

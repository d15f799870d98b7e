import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { barriers, type ConsoleWorld, type Walk } from './world.ts';

const nouns = [
  'operations',
  'deliveries',
  'replays',
  'installations',
  'connections',
  'destinations',
  'integrations',
] as const;

/** An id of one project is not found in another, though the person works in both: nothing tells that it exists. */
export const idsOfAnotherProject: Walk = async ({ open, platform }) => {
  const page = await open('/projects');
  for (const noun of nouns) {
    type Listed = { id: string }[];
    const path = `/projects/default/${noun}`;
    const { body } = await platform.call<Listed | { results: Listed }>('GET', path);
    const [one] = Array.isArray(body) ? body : body.results;
    if (!one) throw new Error(`the walks before left none of the ${noun}`);
    await page.goto(`${platform.base}/projects/typed-with-care/${noun}/${one.id}`);
    const what = noun === 'deliveries' ? 'delivery' : noun.slice(0, -1);
    await page.getByText(`There is no such ${what}, or you may not see it.`).waitFor();
    const said = page.getByRole('main').last();
    const lines = (await said.innerText()).split(/\n+/);
    expect(lines).toEqual([
      'Not found',
      `There is no such ${what}, or you may not see it.`,
      'To your projects',
    ]);
    expect([noun, await said.getByRole('button').count()]).toEqual([noun, 0]);
  }
  expect(await barriers(page)).toEqual([]);
  await page.close();
};

/** A list, how its filters are chosen in the page, and the search parameters that this makes. */
interface Filtered {
  list: string;
  label: string;
  choose: (page: Page) => Promise<void>;
  search: Record<string, string>;
}

const pick = async (page: Page, label: string, option: string): Promise<void> => {
  await page.getByRole('combobox', { name: `${label}: Any` }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
};
const type = (page: Page, label: string, text: string): Promise<void> =>
  page.getByRole('textbox', { name: label, exact: true }).fill(text);

const lists: readonly Filtered[] = [
  {
    list: 'operations',
    label: 'Operations',
    choose: async (page) => {
      await pick(page, 'Status', 'Done');
      await pick(page, 'Kind', 'Write');
      await type(page, 'Group', 'acme');
    },
    search: { status: 'success', actionType: 'write', groupRef: 'acme' },
  },
  {
    list: 'deliveries',
    label: 'Deliveries',
    choose: async (page) => {
      await pick(page, 'Status', 'Delivered');
      await type(page, 'Group', 'acme');
    },
    search: { status: 'delivered', groupRef: 'acme' },
  },
  {
    list: 'proxy-logs',
    label: 'Proxy log',
    choose: async (page) => {
      await pick(page, 'Answer', 'Refused (4xx)');
      await type(page, 'Path contains', '/crm & more?');
    },
    search: { status: '4xx', path: '/crm & more?' },
  },
  {
    list: 'installations',
    label: 'Installations',
    choose: async (page) => {
      await pick(page, 'Health', 'Healthy');
      await type(page, 'Group', 'acme');
    },
    search: { healthStatus: 'healthy', groupRef: 'acme' },
  },
  {
    list: 'events',
    label: 'Events',
    choose: async (page) => {
      await pick(page, 'What', 'Connection made');
      await type(page, 'Connection', 'no-such');
    },
    search: { type: 'connection.created', connectionId: 'no-such' },
  },
  {
    list: 'connections',
    label: 'Connections',
    choose: async (page) => {
      await pick(page, 'Status', 'Working');
      await type(page, 'Group', 'acme');
    },
    search: { status: 'working', groupRef: 'acme' },
  },
  {
    list: 'providers',
    label: 'Providers',
    choose: async (page) => {
      await pick(page, 'Can', 'Write');
      await type(page, 'Name', 'hubspot');
    },
    search: { can: 'write', q: 'hubspot' },
  },
  {
    list: 'audit-log',
    label: 'Audit log',
    choose: async (page) => {
      await pick(page, 'What', 'Installation created');
      await page.getByLabel('From', { exact: true }).fill('2020-02-29');
    },
    search: { action: 'installation.created', from: new Date('2020-02-29T00:00:00').toISOString() },
  },
];

/** Each list has its filters in the address: they survive another page and back, and a reload. */
export const filtersInTheAddress: Walk = async ({ open }) => {
  const page = await open('/projects/default/settings');
  for (const { list, label, choose, search } of lists) {
    const expected = `?${new URLSearchParams(search).toString()}`;
    await page.getByRole('link', { name: label, exact: true }).click();
    await page.getByRole('heading', { name: label, level: 1 }).waitFor();
    await choose(page);
    const isThere = (url: URL): boolean =>
      url.pathname.endsWith(list) &&
      JSON.stringify(Object.fromEntries(url.searchParams)) === JSON.stringify(search);
    await page.waitForURL(isThere);
    const [shown, rows] = await stateOf(page);
    expect([list, new URL(page.url()).search]).toEqual([list, expected]);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.waitForURL('**/settings');
    await page.goBack();
    await page.waitForURL(isThere);
    expect([list, 'back', ...(await stateOf(page))]).toEqual([list, 'back', shown, rows]);
    await page.reload();
    expect([list, 'reload', ...(await stateOf(page))]).toEqual([list, 'reload', shown, rows]);
  }
  await page.close();
};

/** The values of the filters, and the text of the table or of what replaces it. */
async function stateOf(page: Page): Promise<[filters: string[], rows: string]> {
  const bar = page.getByRole('search');
  await bar.getByRole('button', { name: 'Clear' }).waitFor();
  const table = page.getByRole('table');
  const empty = page.getByRole('heading', { name: /Nothing matches|No such provider/ });
  await table.or(empty).first().waitFor();
  await page.locator('[data-old]').waitFor({ state: 'detached' });
  const chosen = await bar.getByRole('combobox').allInnerTexts();
  const typed = await Promise.all((await bar.locator('input').all()).map((input) => input.inputValue()));
  const rows = await table.or(empty).first().innerText();
  return [[...chosen, ...typed], rows];
}

const nonsense = 'no-such_välue"><img src=x onerror="window.executed=1">';

/** The filters whose values the API knows: it refuses any other. */
const strict: readonly [path: string, filter: string][] = [
  ['operations', 'status'],
  ['operations', 'partlyDone'],
  ['operations', 'unresolved'],
  ['operations', 'from'],
  ['deliveries', 'status'],
  ['proxy-logs', 'status'],
  ['installations', 'healthStatus'],
  ['connections', 'status'],
  ['events', 'type'],
  ['audit-log', 'action'],
  ['overview', 'range'],
];

/** Filters that take any text, and parts of pages: the page says that nothing matches, or shows its first part. */
const loose = (world: ConsoleWorld): [path: string, shows: string][] => [
  ['operations?groupRef=', 'Nothing matches'],
  ['deliveries?destination=', 'There is no destination'],
  ['proxy-logs?path=', 'Nothing matches'],
  ['events?connectionId=', 'Nothing matches'],
  ['providers?authType=', 'No such provider'],
  [`installations/${world.customer.installationId}?tab=`, 'Nothing is read'],
  [`connections/${world.customer.connectionId}?tab=`, 'What happened'],
  ['integrations/hubspot-crm?tab=', 'objectName: contacts'],
  ['people?tab=', 'ada@example.com'],
];

const crashed = (page: Page): Locator => page.getByText('This page stopped working');

/** A nonsense value in an address shows what is wrong with it, never an empty or crashed page. */
export const nonsenseInTheAddress: Walk = async (world) => {
  const page = await world.open('/projects');
  const value = encodeURIComponent(nonsense);
  const goto = (path: string): Promise<unknown> =>
    page.goto(`${world.platform.base}/projects/default/${path}`);
  for (const [list, filter] of strict) {
    await goto(`${list}?${filter}=${value}`);
    await page.getByRole('alert').locator('li', { hasText: filter }).or(crashed(page)).first().waitFor();
    expect([list, filter, await crashed(page).count()]).toEqual([list, filter, 0]);
  }
  await goto(`operations?status=${value}`);
  await page.getByRole('alert').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row').nth(1).waitFor();
  expect(new URL(page.url()).search).toBe('');
  // Parameters that others add to a link are no filters.
  await goto('operations?status=success&utm_source=mail');
  await page.getByRole('row').nth(1).waitFor();
  for (const [path, shows] of loose(world)) {
    await goto(path + value);
    await page.getByText(shows).first().waitFor();
  }
  // Addresses that are cut off or mistyped.
  for (const path of ['operations/%E0%A4%A', 'operations?status=%E0%A4%A', 'operations/%00', '%E0%A4%A']) {
    await goto(path);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    expect([path, await crashed(page).count()]).toEqual([path, 0]);
  }
  expect(await page.evaluate(`'executed' in window`)).toBe(false);
  await page.close();
};

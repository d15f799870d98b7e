import { randomUUID } from 'node:crypto';
import type { Page, Route } from 'playwright-core';
import { Client } from 'pg';
import { expect } from 'vitest';
import { barriers, type ConsoleWorld, type Walk } from './world.ts';

/** One call of the API looks through 2,000 operations, so three calls look through all of these. */
const newer = 4_200;

/** A new project with one old write of a company, and many newer ones of contacts; `list` is the address of its operations. */
async function longList({
  databaseUrl,
  platform,
  open,
}: ConsoleWorld): Promise<{ page: Page; list: string }> {
  const project = `long-list-${randomUUID()}`;
  const page = await open('/projects');
  const made = await page.request.post(`${platform.base}/v1/projects`, {
    data: { name: project },
    headers: { origin: platform.base },
  });
  expect(made.status()).toBe(201);
  const { id } = (await made.json()) as { id: string };
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
       SELECT $1, (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $2, $2, $2, 'write', '{}',
         CASE n WHEN 0 THEN 'companies' ELSE 'contacts' END, 'success', 1
       FROM generate_series(0, ${newer}) n`,
      [id, randomUUID()],
    );
  } finally {
    await client.end();
  }
  return { page, list: `${platform.base}/projects/${project}/operations` };
}

/** A rare match is searched for page by page without a click; the search can be stopped and continued. */
export const rareFound: Walk = async (world) => {
  const { page, list } = await longList(world);
  const nothing = page.getByRole('heading', { name: 'Nothing matches', exact: true });
  await page.goto(`${list}?object=companies`);
  await page.getByRole('row').filter({ hasText: 'Write companies' }).waitFor();
  expect(await nothing.count()).toBe(0);
  // Only pages of deals are held, also on a second request: the list of companies may still be searched.
  const held: Route[] = [];
  let isHolding = true;
  await page.route(/\/operations\?(?=.*=deals\b).*pageToken=/, async (route) => {
    if (isHolding) held.push(route);
    else await route.continue();
  });
  await page.goto(`${list}?object=deals`);
  await page.getByRole('heading', { name: 'Nothing matches yet' }).waitFor();
  await page.getByText('It looks on through the rest.').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(() => held.length).toBeGreaterThan(0);
  isHolding = false;
  // Nobody waits any more for a page that was requested again.
  for (const route of held) await route.continue().catch(() => undefined);
  const goOn = page.getByRole('button', { name: 'Look on' });
  await goOn.and(page.locator(':not([aria-busy])')).waitFor();
  expect(await nothing.count()).toBe(0);
  await goOn.click();
  await nothing.waitFor();
  await page.close();
};

/** A search goes on, though what it found so far is being read again when somebody says so. */
export const searchedWhileReadAgain: Walk = async (world) => {
  const { page, list } = await longList(world);
  const held: Route[] = [];
  let holds: RegExp | undefined = /object=deals.*pageToken=/;
  await page.route(/\/operations\?/, async (route) => {
    if (holds?.test(route.request().url())) held.push(route);
    else await route.continue();
  });
  await page.goto(`${list}?object=deals`);
  await page.getByText('It looks on through the rest.').waitFor();
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  holds = /object=deals(?!.*pageToken=)/;
  for (const route of held.splice(0)) await route.continue().catch(() => undefined);
  const goOn = page.getByRole('button', { name: 'Look on' });
  await goOn.and(page.locator(':not([aria-busy])')).waitFor();
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  await goOn.click();
  await page.getByText('It looks on through the rest.').waitFor();
  holds = undefined;
  for (const route of held.splice(0)) await route.continue().catch(() => undefined);
  await page.getByRole('heading', { name: 'Nothing matches', exact: true }).waitFor();
  await page.close();
};

/** Scrolling loads more of a list; arrow keys move between rows; a time has its value in UTC as its title. */
export const scrolledAndWalked: Walk = async (world) => {
  const { page, list } = await longList(world);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kathmandu' });
  await page.goto(list);
  const row = (index: number) => page.locator(`tr[aria-rowindex="${index}"]`);
  await row(1).getByRole('link').focus();
  for (const [key, index] of [
    ['ArrowDown', 2],
    ['ArrowDown', 3],
    ['ArrowUp', 2],
  ] as const) {
    await page.keyboard.press(key);
    await row(index).getByRole('link').and(page.locator(':focus')).waitFor();
  }
  const told = row(1).locator('time');
  const at = new Date((await told.getAttribute('datetime')) ?? '');
  expect(await told.getAttribute('title')).toBe(`${at.toISOString().slice(0, -1).replace('T', ' ')} UTC`);
  const there = at.toLocaleTimeString('en-US', {
    timeZone: 'Asia/Kathmandu',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  expect(await told.innerText()).toContain(there);
  const pages: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('pageToken=')) pages.push(request.url());
  });
  for (let down = 0; down < 300 && (await row(600).count()) === 0; down += 1) {
    await page.mouse.wheel(0, 2_000);
    await page.waitForTimeout(50);
  }
  await row(600).waitFor();
  expect(pages.length).toBeGreaterThanOrEqual(5);
  // Rows out of sight are not in the page.
  expect(await row(1).count()).toBe(0);
  expect(await page.getByRole('row').count()).toBeLessThan(100);
  await page.close();
};

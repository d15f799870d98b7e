import type { Locator, Page } from 'playwright-core';
import { Client } from 'pg';
import { expect } from 'vitest';
import { connect, fault, install } from '../../customer.ts';
import { barriers, type ConsoleWorld } from './world.ts';

const objects = { contacts: { objectName: 'contacts' }, companies: { objectName: 'companies' } };

/** An operation says whose it is, and that its customer must connect again; the connection says what becomes of writes until then. */
export async function whoseItIs({ platform, open }: ConsoleWorld): Promise<void> {
  const stopped = await install(platform, 'hubspot-crm', 'stopped', { write: { objects } });
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'status', status: 401 }, times: 1 });
  await fault(platform.hubspot, {
    path: '/token',
    fault: { kind: 'status', status: 400, body: { error: 'invalid_grant' } },
    times: 1,
  });
  const record = { name: 'Stopped Ltd' };
  const { body } = await stopped.write('companies', { type: 'create', mode: 'asynchronous', record });
  await stopped.settled(body.operationId);
  const page = await open(`/projects/default/operations/${body.operationId}`);
  const facts = page.locator('dl.facts');
  const { installationId, connectionId } = stopped;
  for (const [name, leadsTo] of [
    ['Group', 'operations?groupRef=stopped'],
    ['Integration', 'integrations/'],
    ['Installation', `installations/${installationId}`],
    ['Connection', `connections/${connectionId}`],
  ] as const) {
    const fact = facts.locator('> div').filter({ has: page.getByText(name, { exact: true }) });
    await fact.locator(`a[href*="${leadsTo}"]`).waitFor();
  }
  await facts.getByText('hubspot-crm').waitFor();
  await page.locator('.exchange').filter({ hasText: '401' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'Make a link' }).click();
  await page.waitForURL(`**/connections/${connectionId}`);
  await page.getByText(/writes are refused/).waitFor();
  await page.getByText('Not taken any more', { exact: true }).waitFor();
  expect(await page.locator('dl.facts').textContent()).not.toContain('ends');
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

/** Of tokens that an import set aside nobody has to connect again, and nothing waits for them. */
export async function asideShown({ databaseUrl, platform, open }: ConsoleWorld): Promise<void> {
  const id = await connect(platform, 'hubspot', 'aside');
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `UPDATE connection SET status = 'bad_credentials', status_detail = 'These tokens were imported', aside_generation = generation WHERE id = $1`,
    [id],
  );
  await client.end();
  const page = await open(`/projects/default/connections?groupRef=aside`);
  await page.getByText('Set aside', { exact: true }).waitFor();
  await page.goto(new URL(`/projects/default/connections/${id}`, page.url()).href);
  await page.getByText('Set aside', { exact: true }).waitFor();
  await page.getByText(/^Nothing uses them/).waitFor();
  expect(await page.getByRole('button', { name: 'Connect again' }).count()).toBe(0);
  expect(await page.locator('main').textContent()).not.toContain('writes are refused');
  expect(await barriers(page)).toEqual([]);
  await page.close();
  await platform.call('DELETE', `/projects/default/connections/${id}`);
}

/** The times of a page are updated while nothing happens. */
export async function timesGoOn({ platform, open }: ConsoleWorld): Promise<void> {
  const { connectionId } = await install(platform, 'hubspot-crm', 'ticking', { write: { objects } });
  const page = await open(`/projects/default/connections/${connectionId}`);
  const token = page.locator('dl.facts time').first();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  // What happened to the connection is told to the page a little later, which then reads it again.
  const ticksQuietly = async (): Promise<boolean> => {
    asked.length = 0;
    const before = await token.textContent();
    await expect.poll(() => token.textContent(), { timeout: 4_000 }).not.toBe(before);
    return asked.length === 0;
  };
  await expect.poll(ticksQuietly).toBe(true);
  await page.close();
}

/** A count on the overview links to the same operations: those of the chosen time that failed in that way. */
export async function countedAsListed({ customer, open, platform }: ConsoleWorld): Promise<void> {
  const status = { kind: 'status', status: 400, body: { message: 'No.' } };
  await fault(platform.hubspot, { path: '/companies', fault: status, times: 1 });
  await customer.write('companies', { type: 'create', record: { name: 'Counted Ltd' } });
  const page = await open('/projects/default/overview?range=hour');
  const row = page.getByRole('table', { name: 'Failures by category' }).getByRole('row');
  const validation = row.filter({ hasText: 'Validation' });
  await validation.waitFor({ timeout: 30_000 });
  expect(await page.locator('main').textContent()).not.toContain('Fault of svc');
  const { searchParams } = new URL(await hrefOf(validation.getByRole('link')));
  expect(searchParams.get('errorCategory')).toBe('validation');
  expect(searchParams.get('status')).toBe('failure');
  const agoMs = Date.now() - Date.parse(searchParams.get('from') ?? '');
  expect(agoMs).toBeGreaterThan(58 * 60_000);
  expect(agoMs).toBeLessThan(61 * 60_000);
  await validation.getByRole('link').click();
  await page.getByRole('row').filter({ hasText: 'Write companies' }).first().waitFor();
  await page.close();
}

const hrefOf = (link: Locator): Promise<string> =>
  link.evaluate((one) => (one as unknown as { href: string }).href);

/** On a phone the overview scrolls only down; on a small laptop the list of operations cuts off no state. */
export async function nothingCutOff({ platform, open, customer }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  const { body } = await customer.write('companies', { type: 'create', record: { name: 'Wide Ltd' } });
  const page = await open('/projects/default/overview');
  await page.getByRole('list', { name: 'Rate budgets' }).waitFor();
  await page.getByRole('table', { name: 'Failures by category' }).waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  for (const part of ['.gauges', '.table-frame', 'html'])
    expect([part, await overhang(page, part)]).toEqual([part, 0]);
  expect(await barriers(page)).toEqual([]);
  await page.setViewportSize({ width: 1_300, height: 800 });
  await page.goto(`${platform.base}/projects/default/operations?unresolved=true`);
  await page.locator(`a[href$="${body.operationId}"]`).waitFor();
  for (const part of ['th:first-child', 'th:nth-child(4)', 'td:has(.badge)'])
    expect([part, await overhang(page, part)]).toEqual([part, 0]);
  await page.close();
}

/** How much wider the content is than the element. */
const overhang = (page: Page, selector: string): Promise<number> =>
  page
    .locator(selector)
    .first()
    .evaluate((one) => one.scrollWidth - one.clientWidth);

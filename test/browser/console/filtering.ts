import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { fault, install } from '../../customer.ts';
import { barriers, type ConsoleWorld } from './world.ts';

/** A batch of which one record failed is counted on the overview, found from there, and shown with the answer that says so. */
export async function partlyDoneFound({ customer, open }: ConsoleWorld): Promise<void> {
  const batch = ['not an address', 'partly@acme.example'].map((email) => ({ record: { email } }));
  const { body } = await customer.write('contacts', { type: 'create', batch });
  const page = await open('/projects/default/overview?range=hour');
  const counted = page.getByRole('link', { name: /^\d+ partly done$/ });
  await counted.waitFor({ timeout: 30_000 });
  await page.getByText('Partly done', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await counted.click();
  await page.getByRole('combobox', { name: 'Records: Partly done' }).waitFor();
  const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${body.operationId}"]`) });
  await row.getByText('Partly done', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  // What failed of it is retried; nothing of it waits.
  await page.getByRole('button', { name: /all of these/i }).click();
  await page.getByRole('menuitem').first().waitFor();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Retry what failed']);
  await page.getByRole('menuitem').click();
  await page
    .getByRole('dialog')
    .getByText(/^[1-9]\d* match\.$/)
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await row.getByRole('link').press('Enter');
  const exchange = page.locator('details[open].exchange').filter({ hasText: '207, partly done' });
  await exchange
    .getByText('"numErrors": 1')
    .or(exchange.getByText('not an address').last())
    .first()
    .waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

const objects = { contacts: { objectName: 'contacts' }, companies: { objectName: 'companies' } };

/** The texts of the menu of what is done to all that the filters show. */
async function openActs(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: /all of these/i }).click();
  await page.getByRole('menuitem').first().waitFor();
  return page.getByRole('menuitem').allInnerTexts();
}

/** What waits is canceled and what failed is retried only where the filters show it: by its status, and never for reads. */
export async function manyByFilters({ platform, open }: ConsoleWorld): Promise<void> {
  const customer = await install(platform, 'hubspot-crm', 'filtered', { write: { objects } });
  const refused = { kind: 'status', status: 400, body: { message: 'No.' } };
  await fault(platform.hubspot, { path: '/companies', fault: refused, times: 1 });
  await customer.write('companies', { type: 'create', record: { name: 'Filtered Ltd' } });
  const closed = { kind: 'status', status: 429, headers: { 'retry-after': '600' } };
  await fault(platform.hubspot, { path: '/contacts', fault: closed, times: 1 });
  const record = { email: 'waits@filtered.example' };
  const waiting = await customer.write('contacts', { type: 'create', mode: 'asynchronous', record });
  const list = '/projects/default/operations?groupRef=filtered';
  // The status stays in the filter: nothing that is done has failed.
  const page = await open(`${list}&status=success`);
  expect(await openActs(page)).toEqual(['Retry what failed']);
  await page.getByRole('menuitem').click();
  await page.getByRole('dialog').getByText('match, so there is nothing to do.').waitFor();
  await page.goto(`${platform.base}${list}&status=failure&actionType=write`);
  expect(await openActs(page)).toEqual(['Retry what failed']);
  await page.getByRole('menuitem').click();
  await page.getByRole('dialog').getByText('1 match.').waitFor();
  for (const status of ['', '&status=failure', '&status=in_progress']) {
    await page.goto(`${platform.base}${list}&actionType=read${status}`);
    const all = page.getByRole('button', { name: /all of these/i });
    await all.and(page.getByTitle('Reads are not retried or canceled')).waitFor();
  }
  await page.goto(`${platform.base}/projects/default/overview`);
  await page.getByText(/^\d+ writes? waits?\. The oldest was accepted/).waitFor();
  await page.goto(`${platform.base}${list}&status=in_progress`);
  expect(await openActs(page)).toEqual(['Cancel what waits']);
  await page.getByRole('menuitem').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1' }).click();
  await page.getByText('1 canceled').waitFor();
  expect((await customer.settled(waiting.body.operationId)).status).toBe('failure');
  await page.close();
}

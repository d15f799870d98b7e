import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { fault, install } from '../../customer.ts';
import { barriers, type ConsoleWorld } from './world.ts';

/** Leads to a hit of the search, without loading the document anew. */
async function search(page: Page, typed: string): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'What to look for' }).fill(typed);
  await page.getByRole('option').filter({ hasText: typed }).first().click();
}

/** What is shown or typed on the page of one destination is not there on that of another. */
export async function nothingOfAnother({ platform, open }: ConsoleWorld): Promise<void> {
  const [one, other] = ['first-of-two', 'second-of-two'];
  for (const name of [one, other]) {
    const made = { name, type: 'webhook', metadata: { url: 'http://127.0.0.1:9/' } };
    expect((await platform.call('POST', '/projects/default/destinations', made)).status).toBe(201);
  }
  const page = await open(`/projects/default/destinations/${one}`);
  const title = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  await title(one);
  await search(page, other);
  await title(other);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.goBack();
  await title(one);
  await page.getByRole('button', { name: 'Show', exact: true }).waitFor();
  expect(await page.getByText(/^whsec_/).count()).toBe(0);
  await page.goForward();
  await title(other);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page
    .getByRole('dialog', { name: `Change ${other}` })
    .getByLabel('URL')
    .fill('http://127.0.0.1:8/');
  await page.goBack();
  const asked = page.getByRole('dialog', { name: 'Leave without saving?' });
  await asked.getByRole('button', { name: 'Leave' }).click();
  await title(one);
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await page.close();
}

/** What was counted by one filter is not done by another: the window closes when the filter changes. */
export async function countedByOneFilter({ platform, open }: ConsoleWorld): Promise<void> {
  const customer = await install(platform, 'hubspot-crm', 'counted', {
    write: { objects: { companies: { objectName: 'companies' } } },
  });
  const refused = { kind: 'status', status: 400, body: { message: 'No.' } };
  await fault(platform.hubspot, { path: '/companies', fault: refused, times: 1 });
  await customer.write('companies', { type: 'create', record: { name: 'Counted Ltd' } });
  const page = await open('/projects/default/operations');
  await search(page, 'counted');
  await page.waitForURL('**/operations?groupRef=counted');
  await page.getByRole('button', { name: /all of these/i }).click();
  await page.getByRole('menuitem', { name: 'Retry what failed' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 1' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.goBack();
  await page.waitForURL('**/operations');
  await dialog.waitFor({ state: 'detached' });
  await page.close();
}

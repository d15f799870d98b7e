import { expect } from 'vitest';
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

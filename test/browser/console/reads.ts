import { expect } from 'vitest';
import { install } from '../../customer.ts';
import { barriers, type ConsoleWorld } from './world.ts';

/** One list shows the reads of all customers; a row leads to its installation, where a paused read is resumed. */
export async function readsLookedAt({ platform, open }: ConsoleWorld): Promise<void> {
  const page = await open('/projects/default/installations');
  await page.getByRole('link', { name: 'Reads' }).click();
  await page.getByRole('heading', { name: 'Nothing is read yet' }).waitFor();
  await page.getByText('svc installations create INTEGRATION --group GROUP').waitFor();
  expect(await barriers(page)).toEqual([]);
  const contacts = { objectName: 'contacts', selectedFields: { email: true } };
  const content = { read: { objects: { contacts } } };
  const [one, other] = [
    await install(platform, 'hubspot-crm', 'globex', content),
    await install(platform, 'hubspot-crm', 'initech', content),
  ];
  const at = ({ installationId }: typeof one): string =>
    `/projects/default/integrations/hubspot-crm/installations/${installationId}`;
  await platform.call('POST', `/read/v1${at(other)}:pause`, {});
  const row = page.getByRole('row').filter({ hasText: 'initech' });
  await row.getByText('Paused', { exact: true }).waitFor();
  await page.getByRole('row').filter({ hasText: 'globex' }).getByText('Works', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('combobox', { name: 'Status: Any' }).click();
  await page.getByRole('option', { name: 'Paused' }).click();
  await page.waitForURL('**/reads?status=paused');
  await page.getByRole('row').filter({ hasText: 'globex' }).waitFor({ state: 'detached' });
  await row.getByRole('link').press('Enter');
  await page.waitForURL(`**/installations/${other.installationId}?tab=reads`);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('It goes on', { exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Nothing matches' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clear' }).click();
  await row.getByText('Works', { exact: true }).waitFor();
  await page.close();
  for (const customer of [one, other]) await platform.call('DELETE', at(customer));
}

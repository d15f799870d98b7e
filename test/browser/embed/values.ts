import { expect } from 'vitest';
import { simulator } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

/** The picklist of the customer's account, with these values. */
async function tiers({ platform: { hubspot } }: World, ...values: string[]): Promise<void> {
  const { accessToken } = await simulator<{ accessToken: string }>(hubspot, 'POST', '/tokens', {
    action: 'issue',
  });
  await fetch(`${hubspot}/crm/v3/properties/contacts/tier`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const options = values.map((value) => ({ value, label: value.toUpperCase() }));
  const tier = { name: 'tier', label: 'Tier', type: 'enumeration', fieldType: 'select', options };
  await simulator(hubspot, 'POST', '/schema', {
    object: 'contacts',
    properties: [{ ...tier, groupName: 'contactinformation' }],
  });
}

interface Installed {
  config: { content: { read: { objects: Record<string, object> } } };
}

/** A value that the account no longer has is shown where it was chosen; one that the builder renamed leaves with the next choice. */
export const valueVanished: Walk = async (world) => {
  await tiers(world, 'gold', 'silver');
  const page = await connected(world, 'tiers', { mappings: '1' });
  await page.getByRole('combobox', { name: 'Stage' }).fill('tier');
  await page.getByRole('option', { name: 'Tier' }).click();
  const customer = page.getByRole('combobox', { name: 'Customer' });
  await customer.selectOption('gold');
  await page.getByLabel('Filter by a field').fill('tier');
  await page.getByRole('option', { name: 'Tier' }).click();
  const filter = page.getByLabel('“Tier” is');
  await filter.selectOption('gold');
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await tiers(world, 'silver', 'bronze');
  await page.reload();
  await stepTo(page, 'Contacts');
  await page.getByText('The value “gold” is not in your account any more').waitFor();
  // Nothing stands below the last field of the page: its list is whole all the same.
  await page.getByLabel('Filter by a field').fill('name');
  await page.getByRole('option', { name: 'Last Name' }).click();
  await button(page, 'Remove the filter by Last Name').click();
  expect(await filter.inputValue()).toBe('gold');
  expect(await customer.inputValue()).toBe('gold');
  await isAccessible(page);
  await filter.selectOption('bronze');
  await page.getByText('is not in your account any more').waitFor({ state: 'detached' });
  await customer.selectOption('bronze');
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  // The builder calls the value otherwise: the old name does not stand in the way.
  const renamed = await world.open({ group: 'tiers', mappings: 'renamed' });
  await stepTo(renamed, 'Contacts');
  await renamed.getByRole('combobox', { name: 'Customer' }).selectOption('bronze');
  await button(renamed, 'Save changes').click();
  await renamed.getByText('Saved.').waitFor();
  const { body } = await world.platform.call<Installed[]>(
    'GET',
    '/projects/default/installations?groupRef=tiers',
  );
  expect(body[0]?.config.content.read.objects['contacts']).toMatchObject({
    selectedValueMappings: { tier: { closed: 'bronze' } },
    fieldFilters: [{ fieldName: 'tier', value: 'bronze' }],
  });
};

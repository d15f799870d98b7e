import { expect } from 'vitest';
import { simulator } from '../../customer.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';

/** What was entered is kept while the page is left for the provider. */
export const draftOverRedirect: Walk = async (world) => {
  const { hubspot } = world.platform;
  const page = await connected(world, 'left', { mode: 'redirect' });
  const kept = () =>
    page.evaluate<string[]>('Object.keys(sessionStorage).filter((key) => key.startsWith("svc-draft"))');
  for (const action of ['revoke', 'expire']) await simulator(hubspot, 'POST', '/tokens', { action });
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await page.getByText('what you entered is still here').first().waitFor();
  await button(page, 'Reconnect').click();
  await heading(page, 'What should be shared?').waitFor();
  await stepTo(page, 'Contacts');
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
  expect(await kept()).toEqual([]);
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await stepTo(page, 'Writing');
  const deletion = page.getByRole('switch', { name: 'Allow records' }).first();
  await deletion.click();
  await stepTo(page, 'HubSpot CRM');
  await button(page, 'Reconnect').click();
  const away = page.waitForEvent('framenavigated');
  await button(page, 'Reconnect').click();
  await away;
  await button(page, 'Save changes').waitFor();
  await stepTo(page, 'Writing');
  expect(await deletion.isChecked()).toBe(true);
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  expect(await kept()).toEqual([]);
  // Where nothing was entered, the page does not say that it was kept.
  for (const action of ['revoke', 'expire']) await simulator(hubspot, 'POST', '/tokens', { action });
  await page.reload();
  await page.getByText('does not work any more').first().waitFor();
  expect(await page.getByText('what you entered').count()).toBe(0);
};

import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { simulator } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

const connectionsOf = async ({ platform }: World, group: string): Promise<{ id: string; status: string }[]> =>
  (
    await platform.call<{ id: string; status: string }[]>(
      'GET',
      `/projects/default/connections?groupRef=${group}`,
    )
  ).body;

async function connect(world: World, group: string): Promise<Page> {
  const page = await world.open({ group, show: 'ConnectProvider' });
  await button(page, 'Connect HubSpot').click();
  await page.getByText('Connected to HubSpot').waitFor();
  return page;
}

async function takeBack({ platform: { hubspot } }: World): Promise<void> {
  await simulator(hubspot, 'POST', '/tokens', { action: 'revoke' });
  await simulator(hubspot, 'POST', '/tokens', { action: 'expire' });
}

/** The access was taken back before a page opens: it offers to reconnect at once. A page that is open learns it on focus. */
export const deadOnArrival: Walk = async (world) => {
  await (await connect(world, 'dead')).close();
  const health = await world.open({ group: 'dead', show: 'ConnectionHealth', quiet: '1' });
  await health.locator('.svc').waitFor({ state: 'attached' });
  await takeBack(world);
  const page = await world.open({ group: 'dead' });
  await page.getByText('does not work any more').first().waitFor();
  await button(page, 'Reconnect').waitFor();
  await isAccessible(page);
  await health.waitForTimeout(1_100);
  await health.evaluate(`dispatchEvent(new Event('focus')); undefined`);
  await health.getByText('does not work any more').waitFor();
  await button(page, 'Reconnect').click();
  await heading(page, 'What should be shared?').waitFor();
};

/** Nothing of a customer is shown to another. */
export const anotherCustomer: Walk = async (world) => {
  const installed = await connected(world, 'latter');
  await installed.getByRole('combobox', { name: 'Nickname' }).fill('last');
  await installed.getByRole('option', { name: 'Last Name' }).click();
  await stepTo(installed, 'Review');
  await button(installed, 'Finish setup').click();
  await heading(installed, 'All set').waitFor();

  const page = await connected(world, 'former', { other: 'latter' });
  await button(page, 'Another customer').click();
  await button(page, 'Uninstall').waitFor();
  await stepTo(page, 'Contacts');
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('Last Name');

  const toNobody = await connected(world, 'former-too', { other: 'newest' });
  await button(toNobody, 'Another customer').click();
  await button(toNobody, 'Connect HubSpot').waitFor();
  expect(await toNobody.getByRole('combobox', { name: 'Nickname' }).count()).toBe(0);
};

/** The page asks before it disconnects, which cannot be undone. */
export const disconnectAsks: Walk = async (world) => {
  const page = await connect(world, 'asks');
  await button(page, 'Disconnect').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('stops reading from and writing to HubSpot').waitFor();
  await isAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await connectionsOf(world, 'asks')).toHaveLength(1);
  await button(page, 'Disconnect').click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await button(page, 'Connect HubSpot').waitFor();
  expect(await connectionsOf(world, 'asks')).toEqual([]);
};

import { expect } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { barriersOf } from '../accessible.ts';
import type { World } from '../world.ts';

/** One walk of a customer through the components. */
export type Walk = (world: World) => Promise<void>;

export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });
export const heading = (page: Page, name: string): Locator => page.getByRole('heading', { name });
export const stepTo = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByText(name).click();

export async function isAccessible(page: Page): Promise<void> {
  expect(await barriersOf(page)).toEqual([]);
}

/** A page of a group that has just connected HubSpot, with the one mapping that has no suggestion. */
export async function connected(
  world: World,
  group: string,
  query: Record<string, string> = {},
): Promise<Page> {
  const page = await world.open({ group, ...query });
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'What should be shared?').waitFor();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('first');
  await page.getByRole('option', { name: 'First Name' }).click();
  await expect.poll(() => page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
  return page;
}

import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { button, heading, stepTo, type Walk } from './steps.ts';

/** What has the focus, by its words. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.activeElement === document.body ? '-' : document.activeElement.textContent || document.activeElement.id`,
  );
const press = async (page: Page, name: string): Promise<void> => {
  await button(page, name).focus();
  await page.keyboard.press('Enter');
};

/** Whoever uses keys goes on at the beginning of what took the place of where they were. */
export const focusKept: Walk = async (world) => {
  const page = await world.open({ group: 'focus' });
  await press(page, 'Connect HubSpot');
  await expect.poll(() => focused(page)).toBe('What should be shared?');
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('first');
  await page.getByRole('option', { name: 'First Name' }).click();
  await page.getByLabel('Filter by a field').fill('city');
  await page.getByRole('option', { name: 'City' }).first().click();
  await press(page, 'Remove the filter by City');
  await expect.poll(() => focused(page)).toBe('Only some records');
  await stepTo(page, 'Review');
  await press(page, 'Finish setup');
  await expect.poll(() => focused(page)).toBe('All set');
  await press(page, 'Change settings');
  await expect.poll(() => focused(page)).toBe('HubSpot CRM');
  await press(page, 'Pause');
  await page.getByText('Paused: nothing is read').waitFor();
  await expect.poll(() => focused(page)).toBe('HubSpot CRM');
  await press(page, 'Uninstall');
  await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Connect HubSpot');
  await heading(page, 'Connect HubSpot').waitFor();
  const alone = await world.open({ group: 'focus', show: 'ConnectProvider' });
  await press(alone, 'Connect HubSpot');
  await expect.poll(() => focused(alone)).toContain('Connected to HubSpot');
};

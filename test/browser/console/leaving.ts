import type { Dialog, Page } from 'playwright-core';
import { expect } from 'vitest';
import { install } from '../../customer.ts';
import { barriers, type ConsoleWorld, type Walk } from './world.ts';

/** Escape and the cross of a window ask before what was typed in it is lost; with nothing typed they close it. */
export const windowAsks: Walk = async ({ open }) => {
  const page = await open('/projects/default/destinations');
  const form = page.getByRole('dialog', { name: 'New destination' });
  const asked = page.getByRole('dialog', { name: 'Close without saving?' });
  const begin = page.getByRole('button', { name: 'New destination' });
  await begin.click();
  await form.waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await begin.click();
  await form.getByLabel('Name', { exact: true }).fill('typed-with-care');
  await page.keyboard.press('Escape');
  await asked.waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await asked.waitFor({ state: 'detached' });
  await form.getByRole('button', { name: 'Close' }).click();
  await asked.getByRole('button', { name: 'Stay' }).click();
  expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('typed-with-care');
  await page.keyboard.press('Escape');
  await asked.getByRole('button', { name: 'Close', exact: true }).last().click();
  await form.waitFor({ state: 'detached' });
  await page.close();
};

const question = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });

/** Clicks a link of the menu: the page asks first. Stay keeps the text, Leave drops it. */
async function asksBefore(page: Page, text: () => Promise<void>): Promise<void> {
  const { pathname } = new URL(page.url());
  const to = page.getByRole('link', { name: 'Storage' });
  await to.click();
  await question(page).waitFor();
  expect(await barriers(page)).toEqual([]);
  await question(page).getByRole('button', { name: 'Stay' }).click();
  await question(page).waitFor({ state: 'detached' });
  await text();
  expect(new URL(page.url()).pathname).toBe(pathname);
  const asked: string[] = [];
  const onDialog = (dialog: Dialog): void => {
    asked.push(dialog.type());
    void dialog.dismiss();
  };
  page.on('dialog', onDialog);
  await page.evaluate('void setTimeout(() => location.reload())');
  await expect.poll(() => asked).toEqual(['beforeunload']);
  page.off('dialog', onDialog);
  await text();
  await to.click();
  await question(page).getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL('**/storage');
}

/** A manifest, a config and any other form: what was typed is not lost by a click on the menu, and once it is saved nobody is asked. */
export const askedBeforeLeaving: Walk = async (world) => {
  const page = await world.open('/projects/default/deploy');
  const editor = page.getByRole('textbox', { name: 'Manifest' });
  await editor.focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('# typed with care');
  await asksBefore(page, () => editor.getByText('# typed with care').waitFor());
  const form = page.locator('form').first();
  const days = form.getByRole('spinbutton').first();
  await days.fill('29');
  await page.getByRole('link', { name: 'Settings' }).click();
  await question(page).getByRole('button', { name: 'Stay' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.waitForURL('**/settings');
  await page.close();
  await configAsked(world);
};

/** In the form of a config a fault stands at its field, and the page asks before what was typed is lost. */
async function configAsked(world: ConsoleWorld): Promise<void> {
  const { installationId } = await install(world.platform, 'hubspot-crm', 'careful', {
    read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
  });
  const page = await world.open(`/projects/default/installations/${installationId}?tab=config`);
  await page.getByRole('button', { name: 'Change' }).click();
  const group = page.getByRole('group', { name: 'Read contacts' });
  const fields = group.getByLabel('Fields that are read');
  await fields.fill('emial');
  await page.getByRole('button', { name: 'Save' }).click();
  await group
    .locator('.field')
    .filter({ has: page.getByLabel('Fields that are read') })
    .locator('.field-issue')
    .getByText(/emial/)
    .waitFor();
  expect(await page.getByRole('main').last().getByRole('alert').count()).toBe(0);
  expect(await page.getByText('installation.config').count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('tab', { name: 'History' }).click();
  await question(page).getByRole('button', { name: 'Stay' }).click();
  await asksBefore(page, async () => expect(await fields.inputValue()).toBe('emial'));
  await page.close();
}

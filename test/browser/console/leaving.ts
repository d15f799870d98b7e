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

/** What a colleague saves meanwhile is shown, and nothing of what is typed beside it is lost. */
export const settingsTogether: Walk = async ({ platform, open }) => {
  const page = await open('/projects/default/settings');
  const origins = page.getByLabel('Allowed origins');
  const before = await origins.inputValue();
  await origins.fill('https://typed.example');
  const body = { updateMask: ['appName'], project: { appName: 'Of a colleague' } };
  expect((await platform.call('PATCH', '/projects/default', body)).status).toBe(200);
  await expect
    .poll(() => page.getByLabel('Name of your application').inputValue(), { timeout: 15_000 })
    .toBe('Of a colleague');
  expect(await origins.inputValue()).toBe('https://typed.example');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { body: saved } = await platform.call<{ appName: string; allowedOrigins: string[] }>(
    'GET',
    '/projects/default',
  );
  expect(saved).toMatchObject({ appName: 'Of a colleague', allowedOrigins: ['https://typed.example'] });
  const back = {
    updateMask: ['allowedOrigins'],
    project: { allowedOrigins: before.split('\n').filter(Boolean) },
  };
  await platform.call('PATCH', '/projects/default', back);
  await page.close();
};

/** A line of the mapped fields that is no pair, or a name that stands twice, is told where it is, and nothing of it is saved. */
export const mappingsTold: Walk = async ({ platform, open }) => {
  const paired = await install(platform, 'hubspot-crm', 'paired', {
    read: { objects: { contacts: { objectName: 'contacts' } } },
  });
  const page = await open(`/projects/default/installations/${paired.installationId}?tab=config`);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const mapped = page.getByLabel('Mapped fields');
  const save = page.getByRole('button', { name: 'Save' });
  for (const [typed, said] of [
    ['no pair', '“no pair” is no pair'],
    ['phone: mobilephone\nphone: fax', 'phone stands here twice.'],
  ] as const) {
    await mapped.fill(typed);
    await page.getByText(said).waitFor();
    expect(await save.getAttribute('aria-disabled')).toBe('true');
  }
  expect(await barriers(page)).toEqual([]);
  await mapped.fill('phone: mobilephone');
  await save.click();
  await page.getByText('The config is saved').waitFor();
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

/** Days that are typed stay while a colleague saves others, and what is typed while they are saved is not lost. */
export const daysTogether: Walk = async ({ platform, open }) => {
  const page = await open('/projects/default/storage');
  const days = page.locator('form').first().getByRole('spinbutton');
  const [first, second] = [days.nth(0), days.nth(1)];
  await first.fill('27');
  const keep = (proxyLogs: number | null) => ({
    updateMask: ['keepDays.proxyLogs'],
    project: { keepDays: { proxyLogs } },
  });
  expect((await platform.call('PATCH', '/projects/default', keep(3))).status).toBe(200);
  await expect.poll(() => days.last().inputValue(), { timeout: 15_000 }).toBe('3');
  expect(await first.inputValue()).toBe('27');
  await page.route(
    '**/v1/projects/default',
    async (route) => {
      await second.fill('5');
      await route.continue();
    },
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await expect.poll(() => first.inputValue()).toBe('27');
  expect(await second.inputValue()).toBe('5');
  await second.fill('');
  await first.fill('');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await platform.call('PATCH', '/projects/default', keep(null));
  await page.close();
};

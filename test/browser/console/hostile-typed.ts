import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { first, type Walk } from './world.ts';

const harmful = `"><img src=x onerror="window.executed=1"> {{constructor}} \u202E '; DROP TABLE x; --`;

/** Each form, what opens it, and what sends it. */
const forms: readonly [path: string, opens: string | undefined, sends: string][] = [
  ['/projects', 'New project', 'Make the project'],
  ['/account', 'Change the password', 'Change the password'],
  ['keys', 'New API key', 'Make the key'],
  ['keys?tab=public', 'New public key', 'Register the key'],
  ['people', 'Invite', 'Make the link'],
  ['destinations', 'New destination', 'Make it'],
  ['destinations/told', 'Change', 'Save'],
  ['providers/hubspot', 'New provider app', 'Enter the client'],
  ['storage', 'Erase …', 'Erase it for good'],
  ['settings', undefined, 'Save'],
];

/** Typed into every field of every form, a hostile text is taken as a text or refused at its field, and never run. */
export const hostileTyped: Walk = async ({ open, platform, stranger }) => {
  const page = await open('/projects');
  for (const [path, opens, sends] of forms) {
    await page.goto(platform.base + (path.startsWith('/') ? path : `/projects/default/${path}`));
    if (opens) await page.getByRole('button', { name: opens, exact: true }).click();
    const form = page.locator('form').last();
    await typeEverywhere(form);
    await form.getByRole('button', { name: sends, exact: true }).click();
    // Refused at a field, or as a password; made, saved, or begun.
    const refused = page.locator('.field-issue').or(page.getByText('do not belong together'));
    const made = page.getByRole('region', { name: 'Key' }).or(page.locator('.toast'));
    const begun = page.getByRole('dialog', { name: /^Eras(ing|ed)/ });
    await refused.or(made).or(begun).first().waitFor();
    expect([path, await isHarmed(page)]).toEqual([path, false]);
  }
  await page.goto(`${platform.base}/projects/default/operations`);
  await typeEverywhere(page.getByRole('search'));
  await page.getByRole('heading', { name: 'Nothing matches' }).or(page.getByRole('alert')).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'What to look for' }).fill(harmful);
  // The key that was made above.
  await page.getByRole('option').filter({ hasText: 'onerror' }).first().waitFor();
  expect(await isHarmed(page)).toBe(false);
  await page.close();
  const context = await stranger();
  const door = await open('/sign-in', context);
  await typeEverywhere(door.locator('form'));
  await door.getByLabel('Password').fill(first.password);
  await door.keyboard.press('Enter');
  await door.locator('.field-issue').or(door.getByRole('alert')).first().waitFor();
  expect(await isHarmed(door)).toBe(false);
  await context.close();
};

const lines = 'input:not([type=date], [type=checkbox], [type=number], [readonly])';

async function typeEverywhere(form: Locator): Promise<void> {
  await form.locator(`${lines}, textarea`).first().waitFor();
  for (const field of await form.locator(`${lines}, textarea`).all()) await field.fill(harmful);
}

const isHarmed = async (page: Page): Promise<boolean> =>
  (await page.evaluate<boolean>(`'executed' in window`)) ||
  (await page.getByText('This page stopped working').count()) > 0;

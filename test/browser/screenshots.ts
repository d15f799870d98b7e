/** `npm run screenshots -- [folder]`: a picture of each state, in light and dark, wide and narrow, and from right to left. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { consent, startWorld } from './world.ts';

const folder = process.argv[2] ?? 'screenshots';
const looks = {
  'wide-light': { theme: 'light', width: 1_000, dir: 'ltr', language: 'en' },
  'wide-dark': { theme: 'dark', width: 1_000, dir: 'ltr', language: 'en' },
  'narrow-light': { theme: 'light', width: 390, dir: 'ltr', language: 'de' },
  'narrow-dark-rtl': { theme: 'dark', width: 390, dir: 'rtl', language: 'en' },
} as const;
type Look = keyof typeof looks;

await mkdir(folder, { recursive: true });
const world = await startWorld();
try {
  for (const look of Object.keys(looks) as Look[]) await walk(look);
} finally {
  await world.close();
}

async function show(look: Look, query: Record<string, string>): Promise<Page> {
  const { width, ...asked } = looks[look];
  const page = await world.open({ ...asked, ...query });
  await page.setViewportSize({ width, height: 800 });
  return page;
}

async function walk(look: Look): Promise<void> {
  const shoot = (page: Page, name: string) =>
    page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
  const group = `shots-${look}`;
  const primary = (page: Page) => page.locator('.svc-button-primary');

  const typed = await show(look, { group, show: 'ConnectProvider', integration: 'by-password' });
  await primary(typed).click();
  await typed.locator('.svc-issue').first().waitFor();
  await shoot(typed, 'connect-missing');
  await typed.locator('input').first().fill('ada');
  await typed.locator('input').nth(1).fill('wrong');
  await primary(typed).click();
  await typed.getByRole('alert').first().waitFor();
  await shoot(typed, 'connect-refused');

  const page = await show(look, { group, mappings: '1' });
  await primary(page).waitFor();
  await shoot(page, 'connect');
  await consent(world.platform.hubspot, 'page');
  const opening = page.waitForEvent('popup');
  await primary(page).click();
  const popup = await opening;
  await page.locator('.svc-notice').waitFor();
  await shoot(page, 'connect-waiting');
  await popup.getByRole('button', { name: 'Approve' }).click();
  await consent(world.platform.hubspot, 'approve');
  await page.locator('.svc-nav').waitFor();
  await shoot(page, 'objects');
  const step = (index: number) => page.locator('.svc-nav-step').nth(index).click();
  await step(4);
  await primary(page).click();
  await page.locator('.svc-issue').waitFor();
  await shoot(page, 'fields-refused');
  await page.getByLabel('Nickname').fill('na');
  await page.getByRole('option').first().waitFor();
  await shoot(page, 'fields-choosing');
  await page.getByRole('option').first().click();
  await page.getByLabel('Stage').fill('lifecycle');
  await page.getByRole('option').first().click();
  await shoot(page, 'fields-values');
  await step(3);
  await page.locator('.svc-picker input').first().fill('city');
  await page.getByRole('option').first().click();
  await shoot(page, 'writing');
  await step(4);
  await shoot(page, 'review');
  await primary(page).click();
  await page.locator('.svc-done').waitFor();
  await shoot(page, 'done');
  await page.locator('.svc-done .svc-button').first().click();
  await shoot(page, 'overview');
  await page.locator('.svc-button-danger').first().click();
  await shoot(page, 'uninstall');
  await page.context().close();
  await typed.context().close();
}

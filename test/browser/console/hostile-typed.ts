import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { hostile } from '../../../ui/embed/gallery/hostile.ts';
import { fault, install } from '../../customer.ts';
import { crawled } from './hostile.ts';
import { first, type ConsoleWorld, type Walk } from './world.ts';

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

/** Lists with a text in their bar of filters, as the menu calls them. */
const filtered = [
  'Operations',
  'Reads',
  'Deliveries',
  'Proxy log',
  'Installations',
  'Connections',
  'Events',
  'Providers',
  'Audit log',
];

/** Where most of what was typed is shown afterwards. */
const shownIn = ['keys', 'people?tab=invitations', 'providers?tab=apps', 'settings', 'audit-log'];

/** Types the hostile texts into fields, one after another, and counts them. */
interface Typist {
  typed: number;
  into: (form: Locator) => Promise<void>;
}

const lines = 'input:not([type=date], [type=checkbox], [type=number], [readonly])';
/** Hostile texts for each field. */
const rounds = 9;

/** Sets each field as a browser does on a paste, one text after another; the last is `harmful`, which runs where it can. */
function typist(): Typist {
  const self: Typist = {
    typed: 0,
    async into(form) {
      const fields = form.locator(`${lines}, textarea`);
      await fields.first().waitFor();
      for (const field of await fields.all()) {
        const texts = Array.from({ length: rounds }, () => hostile[self.typed++ % hostile.length] ?? '');
        await field.evaluate(paste, [...texts, harmful]);
      }
    },
  };
  return self;
}

/** Runs in the page. */
async function paste(field: unknown, texts: string[]): Promise<void> {
  const element = field as { value: string; dispatchEvent: (event: Event) => void };
  const setter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element) as object, 'value');
  for (const text of texts) {
    setter?.set?.call(element, text);
    element.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Typed into every field of every form and filter, 500 hostile texts are taken as texts or refused at their fields, and none is run. */
export const hostileTyped: Walk = async (world) => {
  const { open, platform, stranger } = world;
  const page = await open('/projects');
  const all = typist();
  const goto = (path: string): Promise<unknown> =>
    page.goto(platform.base + (path.startsWith('/') ? path : `/projects/default/${path}`));
  for (const [path, opens, sends] of forms) {
    await goto(path);
    if (opens) await page.getByRole('button', { name: opens, exact: true }).click();
    const form = page.locator('form').last();
    await all.into(form);
    await form.getByRole('button', { name: sends, exact: true }).click();
    // Refused at a field, or as a password; made, saved, or begun.
    const refused = page.locator('.field-issue').or(page.getByText('do not belong together'));
    const made = page.getByRole('region', { name: 'Key' }).or(page.locator('.toast'));
    const begun = page.getByRole('dialog', { name: /^Eras(ing|ed)/ });
    await refused.or(made).or(begun).first().waitFor();
    expect([path, await isHarmed(page)]).toEqual([path, false]);
  }
  await goto('people');
  for (const list of filtered) {
    await page.getByRole('link', { name: list, exact: true }).click();
    await page.getByRole('heading', { name: list, level: 1 }).waitFor();
    await all.into(page.getByRole('search'));
    await page.waitForURL(/onerror/);
    expect([list, await isHarmed(page)]).toEqual([list, false]);
  }
  await typedElsewhere(world, page, all);
  await page.keyboard.press('Control+k');
  await all.into(page.getByRole('dialog'));
  // The key that was made above.
  await page.getByRole('option').filter({ hasText: 'onerror' }).first().waitFor();
  expect(await isHarmed(page)).toBe(false);
  expect(
    await crawled(
      page,
      shownIn.map((path) => `${platform.base}/projects/default/${path}`),
    ),
  ).toEqual([]);
  await page.close();
  const context = await stranger();
  const door = await open('/sign-in', context);
  await all.into(door.locator('form'));
  await door.getByLabel('Password').fill(first.password);
  await door.keyboard.press('Enter');
  await door.locator('.field-issue').or(door.getByRole('alert')).first().waitFor();
  expect(await isHarmed(door)).toBe(false);
  await context.close();
  expect(all.typed).toBeGreaterThanOrEqual(hostile.length);
};

/** Fields that need something to be there first: a config, a manifest, an unknown outcome, a second factor. */
async function typedElsewhere(world: ConsoleWorld, page: Page, all: Typist): Promise<void> {
  const { platform, customer } = world;
  const at = `${platform.base}/projects/default`;
  const { installationId } = await install(platform, 'hubspot-crm', 'typed', {
    read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
  });
  await page.goto(`${at}/installations/${installationId}?tab=config`);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const form = page.locator('form');
  await all.into(form);
  // Nothing is sent before this is mended.
  await form.getByText(/is no pair/).waitFor();
  await form.getByLabel('Mapped fields').fill(`${harmful}: ${harmful}`);
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.field-issue').first().waitFor();
  await page.getByRole('tab', { name: 'JSON' }).click();
  await all.into(form);
  await page.getByText(/This is no JSON/).waitFor();
  expect(await isHarmed(page)).toBe(false);
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  const { body } = await customer.write('companies', { type: 'create', record: { name: 'Lost Ltd' } });
  await page.goto(`${at}/operations/${body.operationId}`);
  await page.getByRole('button', { name: 'Resolve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox').click();
  await page.getByRole('option', { name: /It is there/ }).click();
  await all.into(dialog);
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('Resolved', { exact: true }).or(dialog.getByRole('alert')).first().waitFor();
  expect(await isHarmed(page)).toBe(false);
  await page.goto(`${platform.base}/account`);
  await page.getByRole('button', { name: 'Add a second factor' }).click();
  await all.into(dialog);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await page.locator('.field-issue').or(dialog.getByRole('alert')).first().waitFor();
  await dialog.getByLabel('Password').fill(first.password);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.getByRole('img', { name: /QR code/ }).waitFor();
  await all.into(dialog);
  await dialog.getByRole('button', { name: 'Add it' }).click();
  await page.locator('.field-issue').or(dialog.getByRole('alert')).first().waitFor();
  await page.goto(`${at}/deploy`);
  await page.getByRole('textbox', { name: 'Manifest' }).focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(`${hostile.slice(0, 25).join('\n')}\n${harmful}`);
  await page.getByRole('region', { name: 'What a deploy changes' }).getByRole('alert').first().waitFor();
  expect(await isHarmed(page)).toBe(false);
}

const isHarmed = async (page: Page): Promise<boolean> =>
  (await page.evaluate<boolean>(`'executed' in window`)) ||
  (await page.getByText('This page stopped working').count()) > 0;

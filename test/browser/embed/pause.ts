import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import type { World } from '../world.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

interface Read {
  disabled?: boolean;
  selectedFieldMappings?: Record<string, string>;
}
interface Installed {
  config: { content: { read: { objects: Record<string, Read> } } };
}

async function readsOf({ platform }: World, group: string): Promise<Read[]> {
  const all = '/projects/default/integrations/hubspot-crm/installations';
  const { body } = await platform.call<Installed[]>('GET', `${all}?groupRef=${group}`);
  return Object.values(body[0]?.config.content.read.objects ?? {});
}

const disabledOf = async (world: World): Promise<boolean[]> =>
  (await readsOf(world, 'pausing')).map(({ disabled }) => disabled ?? false);
const resumed = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Resume' });

/** A pause holds at once and saves nothing else, also when it is tried again. */
export const pausedAtOnce: Walk = async (world) => {
  const page = await connected(world, 'pausing');
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('last n');
  await page.getByRole('option', { name: 'Last Name' }).click();
  await stepTo(page, 'HubSpot CRM');
  await button(page, 'Pause').click();
  await page.getByText('Paused: nothing is read').waitFor();
  const paused = await readsOf(world, 'pausing');
  expect(paused.map(({ disabled }) => disabled)).toEqual([true, true]);
  expect(paused[0]?.selectedFieldMappings).toMatchObject({ nickname: 'firstname' });
  // Earlier edits are saved by their own button, and the pause stays.
  await button(page, 'Save changes').click();
  await expect
    .poll(async () => (await readsOf(world, 'pausing'))[0])
    .toMatchObject({ disabled: true, selectedFieldMappings: { nickname: 'lastname' } });
  await button(page, 'Discard changes').waitFor({ state: 'detached' });
  await stepTo(page, 'Writing');
  await page.getByRole('switch', { name: 'Allow records' }).first().click();
  await stepTo(page, 'HubSpot CRM');
  await page.context().setOffline(true);
  // The objects that this page paused are ticked.
  await button(page, 'Resume').click();
  await isAccessible(page);
  await resumed(page).click();
  await page.getByText('cannot be reached').waitFor();
  await page.context().setOffline(false);
  await button(page, 'Try again').click();
  await page.getByText('Paused: nothing is read').waitFor({ state: 'detached' });
  expect(await disabledOf(world)).toEqual([false, false]);
  // Trying again saves what failed, and nothing else.
  await button(page, 'Discard changes').click();
  await resumedAsChosen(world, page);
};

/** An object that the customer switched off is not ticked. After a reload none is: nothing says why an object is not read. */
async function resumedAsChosen(world: World, page: Page): Promise<void> {
  await stepTo(page, 'Data');
  await page.getByRole('group', { name: 'Companies' }).getByRole('switch', { name: 'Read' }).click();
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  await stepTo(page, 'HubSpot CRM');
  await button(page, 'Pause').click();
  await page.getByText('Paused: nothing is read').waitFor();
  const ticked = (tab: Page): Promise<boolean[]> =>
    tab
      .getByRole('dialog')
      .getByRole('checkbox')
      .all()
      .then((boxes) => Promise.all(boxes.map((box) => box.isChecked())));
  await button(page, 'Resume').click();
  expect(await ticked(page)).toEqual([true, false]);
  await page.reload();
  await button(page, 'Resume').click();
  expect(await ticked(page)).toEqual([false, false]);
  expect(await resumed(page).isDisabled()).toBe(true);
  await page.getByRole('checkbox', { name: 'Contacts' }).check();
  await resumed(page).click();
  await button(page, 'Pause').waitFor();
  await expect.poll(() => disabledOf(world)).toEqual([false, true]);
  // While an object is not read, Resume is offered.
  expect(await button(page, 'Resume').isVisible()).toBe(true);
}

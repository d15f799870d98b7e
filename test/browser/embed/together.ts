import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import type { World } from '../world.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';

interface Content {
  read: { objects: Record<string, { disabled?: boolean }> };
  write: { objects: Record<string, { deletionSettings?: { enabled: boolean } }> };
}
interface Installed {
  id: string;
  connection: { id: string };
  config: { content: Content };
}
export const all = '/projects/default/integrations/hubspot-crm/installations';

export async function installationOf({ platform }: World, group: string): Promise<Installed> {
  return (await platform.call<Installed[]>('GET', `${all}?groupRef=${group}`)).body[0]!;
}
export const deletesOf = async (world: World, group: string): Promise<(boolean | undefined)[]> =>
  Object.values((await installationOf(world, group)).config.content.write.objects).map(
    ({ deletionSettings }) => deletionSettings?.enabled,
  );

export async function installed(world: World, group: string): Promise<Page> {
  const page = await connected(world, group);
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  return page;
}
const deletion = (page: Page, index: number) =>
  page.getByRole('switch', { name: 'Allow records' }).nth(index);

/** A change that is made while a save is under way is kept, and is still to be saved. */
export const changedMeanwhile: Walk = async (world) => {
  const page = await installed(world, 'meanwhile');
  await stepTo(page, 'Writing');
  const [going, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route('**/installations/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    going.resolve();
    await go.promise;
    return route.continue();
  });
  await deletion(page, 0).click();
  // Nothing is lost when the page learns the person's name.
  await page.evaluate('nameConsumer("Ada"); undefined');
  await button(page, 'Save changes').click();
  await going.promise;
  await deletion(page, 1).click();
  go.resolve();
  await expect.poll(() => deletesOf(world, 'meanwhile')).toEqual([true, undefined]);
  await button(page, 'Save changes').waitFor();
  expect(await page.getByText('Saved.').count()).toBe(0);
  expect(await deletion(page, 1).isChecked()).toBe(true);
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  expect(await deletesOf(world, 'meanwhile')).toEqual([true, true]);
};

/** Somebody who makes the change that another just saved sees it as saved. */
export const sameChange: Walk = async (world) => {
  const page = await installed(world, 'same');
  const other = await world.open({ group: 'same', consumer: 'bob' });
  for (const one of [page, other]) {
    await stepTo(one, 'Writing');
    await deletion(one, 0).click();
    await button(one, 'Save changes').click();
    await button(one, 'Save changes').waitFor({ state: 'detached' });
  }
  expect(await deletesOf(world, 'same')).toEqual([true, undefined]);
  expect(await deletion(other, 0).isChecked()).toBe(true);
  for (const one of [page, other]) {
    await stepTo(one, 'HubSpot CRM');
    await button(one, 'Pause').click();
    await one.getByText('Paused: nothing is read').waitFor();
  }
  for (const one of [page, other]) {
    await button(one, 'Resume').click();
    const dialog = one.getByRole('dialog');
    for (const box of await dialog.getByRole('checkbox').all()) await box.check();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await one.getByText('Paused: nothing is read').waitFor({ state: 'detached' });
  }
};

/** Two questions in a row: each answer holds, and the second question is about the rest only. */
export const askedTwice: Walk = async (world) => {
  const group = 'asked-twice';
  const page = await installed(world, group);
  const { id } = await installationOf(world, group);
  const colleague = async (writeOnUpdate: string, ...named: string[]): Promise<void> => {
    const before = (await installationOf(world, group)).config.content.write.objects;
    const ruled = named.map((objectName) => [
      objectName,
      { objectName, selectedFieldSettings: { city: { writeOnUpdate } } },
    ]);
    const sent = await world.platform.call('PATCH', `${all}/${id}`, {
      updateMask: ['config.content.write.objects'],
      installation: {
        config: { content: { write: { objects: { ...before, ...Object.fromEntries(ruled) } } } },
      },
    });
    expect(sent.status).toBe(200);
  };
  await stepTo(page, 'Writing');
  await deletion(page, 0).click();
  await deletion(page, 1).click();
  await colleague('never', 'contacts', 'companies');
  await button(page, 'Save changes').click();
  await page.getByText('Whose should hold?').waitFor();
  await colleague('always', 'contacts');
  await button(page, 'Keep mine').click();
  await expect.poll(() => page.getByText('Whose should hold?').innerText()).not.toContain('Companies');
  await button(page, 'Take theirs').click();
  await expect.poll(() => deletion(page, 0).isChecked()).toBe(false);
  await button(page, 'Save changes').click();
  await expect.poll(() => deletesOf(world, group)).toEqual([undefined, true]);
};

/** A save whose answer was lost is not taken for somebody else's, also where more was changed since. */
export const saveLost: Walk = async (world) => {
  const group = 'save-lost';
  const page = await installed(world, group);
  const lose = (): Promise<unknown> =>
    page.route('**/installations/*', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      await route.fetch();
      return route.abort();
    });
  await lose();
  await stepTo(page, 'Writing');
  await deletion(page, 0).click();
  await button(page, 'Save changes').click();
  await page.getByText('cannot be reached').waitFor();
  await page.unrouteAll();
  await page.getByLabel('Add a rule for a field').first().fill('city');
  await page.getByRole('listbox').getByRole('option').first().click();
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  expect(await page.getByText('Somebody else').count()).toBe(0);
  const { content } = (await installationOf(world, group)).config;
  expect(content.write.objects['contacts']).toMatchObject({
    deletionSettings: { enabled: true },
    selectedFieldSettings: { city: { writeOnUpdate: 'never' } },
  });
  await lose();
  await stepTo(page, 'HubSpot CRM');
  await button(page, 'Pause').click();
  await page.getByText('cannot be reached').waitFor();
  await page.unrouteAll();
  await button(page, 'Try again').click();
  await page.getByText('Paused: nothing is read').waitFor();
  expect(await page.getByText('Somebody else').count()).toBe(0);
};

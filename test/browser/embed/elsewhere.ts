import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { connect } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';

interface Installed {
  id: string;
  config: {
    content: { read: { objects: Record<string, { disabled?: boolean; selectedFieldMappings?: object }> } };
  };
}
const all = '/projects/default/integrations/hubspot-crm/installations';

async function installationOf({ platform }: World, group: string): Promise<Installed | undefined> {
  return (await platform.call<Installed[]>('GET', `${all}?groupRef=${group}`)).body[0];
}

const finish = async (page: Page): Promise<void> => {
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
};
const toldOf = (page: Page): Promise<[event: string, id: string][]> => page.evaluate('window.told');

/** What this page sent was done, and its answer was lost. */
export const answerLost: Walk = async (world) => {
  for (const group of ['lost', 'lost-more']) {
    const page = await connected(world, group);
    await page.route('**/installations', async (route) => {
      if (route.request().method() === 'POST') await route.fetch();
      await route.abort();
    });
    await finish(page);
    await page.getByText('cannot be reached').waitFor();
    await page.unrouteAll();
    // What was entered since then is saved, too.
    const isMore = group === 'lost-more';
    if (isMore) {
      await stepTo(page, 'Contacts');
      await page.getByRole('combobox', { name: 'Nickname' }).fill('last n');
      await page.getByRole('option', { name: 'Last Name' }).click();
      await stepTo(page, 'Review');
    }
    await button(page, 'Finish setup').click();
    await heading(page, 'All set').waitFor();
    const made = await installationOf(world, group);
    expect(await toldOf(page)).toEqual([['installed', made?.id]]);
    expect(made?.config.content.read.objects['contacts']?.selectedFieldMappings).toMatchObject({
      nickname: isMore ? 'lastname' : 'firstname',
    });
  }
};

export const installedElsewhere: Walk = async (world) => {
  const page = await connected(world, 'raced');
  await stepTo(page, 'Data');
  await page.getByRole('group', { name: 'Companies' }).getByRole('switch', { name: 'Read' }).click();
  const content = {
    provider: 'hubspot',
    read: {
      objects: {
        contacts: { objectName: 'contacts', selectedFieldMappings: { nickname: 'lastname' } },
        companies: { objectName: 'companies', selectedFields: { name: true } },
      },
    },
  };
  const made = await world.platform.call('POST', all, { groupRef: 'raced', config: { content } });
  expect(made.status).toBe(201);
  await finish(page);
  await page.getByText('Somebody else set it up meanwhile').waitFor();
  await stepTo(page, 'Contacts');
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
  await button(page, 'Keep mine').click();
  await page.getByText('Saved.').waitFor();
  const { config } = (await installationOf(world, 'raced'))!;
  expect(config.content.read.objects['contacts']?.selectedFieldMappings).toMatchObject({
    nickname: 'firstname',
  });
  // Companies were switched off here, so they are disabled in the config that reads them.
  expect(config.content.read.objects['companies']?.disabled).toBe(true);
};

/** Somebody else uninstalls: what was changed here is kept for the next installation. */
export const uninstalledElsewhere: Walk = async (world) => {
  const page = await connected(world, 'gone');
  await finish(page);
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('last n');
  await page.getByRole('option', { name: 'Last Name' }).click();
  const before = (await installationOf(world, 'gone'))!;
  expect((await world.platform.call('DELETE', `${all}/${before.id}`)).status).toBe(204);
  await button(page, 'Save changes').click();
  await page.getByText('Somebody else uninstalled it').first().waitFor();
  // The connection went with it.
  await button(page, 'Connect HubSpot').click();
  await stepTo(page, 'Contacts');
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('Last Name');
  await finish(page);
  await heading(page, 'All set').waitFor();
  const after = (await installationOf(world, 'gone'))!;
  expect(after.config.content.read.objects['contacts']?.selectedFieldMappings).toMatchObject({
    nickname: 'lastname',
  });
  expect((await toldOf(page)).map(([event]) => event)).toEqual(['installed', 'installed']);
};

/** An installation that could not be loaded is not taken for absent. One made and deleted elsewhere is noticed after an own uninstall. */
export const unknownAtFirst: Walk = async (world) => {
  const group = 'unknown';
  const page = await connected(world, group);
  await finish(page);
  await heading(page, 'All set').waitFor();
  await page.route(/\/installations\?/, (route) => route.abort());
  await page.reload();
  await page.getByText('cannot be reached').waitFor();
  expect(await heading(page, 'What should be shared?').count()).toBe(0);
  await page.unrouteAll();
  await button(page, 'Try again').click();
  await button(page, 'Uninstall').click();
  const { config } = (await installationOf(world, group))!;
  await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click();
  await page.getByText('Uninstalled.').waitFor();
  const lookAgain = async (): Promise<void> => {
    await page.waitForTimeout(1_100);
    await page.evaluate(`dispatchEvent(new Event('focus')); undefined`);
  };
  await connect(world.platform, 'hubspot', group);
  const made = await world.platform.call<Installed>('POST', all, {
    groupRef: group,
    config: { content: config.content },
  });
  expect(made.status).toBe(201);
  await lookAgain();
  await page.getByText('Connected to HubSpot').waitFor();
  expect((await world.platform.call('DELETE', `${all}/${made.body.id}`)).status).toBe(204);
  await lookAgain();
  await page.getByText('Somebody else uninstalled it').first().waitFor();
};

import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { connect, deploy } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, heading, isAccessible, stepTo, type Walk } from './steps.ts';

interface Installed {
  id: string;
  config: { content: Record<'read' | 'write', { objects: Record<string, object> }> };
}
const all = '/projects/default/integrations/choosing/installations';
const installed = async ({ platform }: World): Promise<Installed> => {
  const { body } = await platform.call<Installed[]>('GET', `${all}?groupRef=choosing`);
  return body[0]!;
};

const choosing = (more: string) => `specVersion: 1.0.0
integrations:
  - name: choosing
    displayName: Choosing
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields: [{ fieldName: email }]
${more}
    write:
      objects: [{ objectName: contacts }]
`;
const companies = `        - objectName: companies
          mapToDisplayName: Companies
          destination: inbox
          optionalFields: [{ fieldName: city }]`;

const reads = (page: Page) =>
  page.getByRole('group', { name: 'Companies' }).getByRole('switch', { name: 'Read' });
const save = async (page: Page): Promise<void> => {
  await button(page, 'Save changes').click();
  await button(page, 'Discard changes').waitFor({ state: 'detached' });
};

/**
 * An object without required fields is declined, then chosen. Once the manifest no longer has it, it is read on until the customer
 * stops it.
 */
export const objectDeclined: Walk = async (world) => {
  await deploy(world.platform, choosing(companies));
  const page = await world.open({ group: 'choosing', integration: 'choosing' });
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'What should be shared?').waitFor();
  await page.getByText('Mailmonkey may create and update Contacts.').waitFor();
  expect(await page.getByRole('switch').count()).toBe(2);
  await isAccessible(page);
  await reads(page).click();
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  const { content } = (await installed(world)).config;
  expect(content.read.objects).toEqual({ contacts: { objectName: 'contacts' } });
  expect(content.write.objects).toEqual({ contacts: { objectName: 'contacts' } });
  await button(page, 'Change settings').click();
  await stepTo(page, 'Data');
  await reads(page).click();
  await reads(page).click();
  await save(page);
  await reads(page).click();
  await button(page, 'Save changes').click();
  await page.getByText('Choose at least one field.').waitFor();
  await page.getByRole('checkbox').first().check();
  await save(page);
  expect((await installed(world)).config.content.read.objects).toMatchObject({
    companies: { selectedFields: { city: true } },
  });
  const takenAway = await takenFrom(world);
  await deploy(world.platform, choosing(''));
  await page.reload();
  await page.getByText('No longer offered; still read').waitFor();
  await isAccessible(page);
  await button(page, 'Stop reading companies').click();
  await page.getByText('No longer offered; still read').waitFor({ state: 'detached' });
  expect((await installed(world)).config.content.read.objects).toMatchObject({
    companies: { disabled: true, selectedFields: { city: true } },
  });
  await writtenWithoutSettings(world, page);
  await takenAway();
};

/** Another group reads the object, too: a destructive deploy ends that, and the page says so. */
async function takenFrom(world: World): Promise<() => Promise<void>> {
  const { platform } = world;
  await connect(platform, 'hubspot', 'taken');
  const objects = { companies: { objectName: 'companies', selectedFields: { city: true } } };
  const config = { content: { provider: 'hubspot', read: { objects } } };
  const made = await platform.call('POST', all, { groupRef: 'taken', config });
  expect(made.status).toBe(201);
  return async () => {
    const page = await world.open({ group: 'taken', integration: 'choosing' });
    await page.getByText('No longer offered; still read').waitFor();
    const deployed = await platform.call('PUT', '/projects/default/integrations:batch?destructive=true', {
      sourceYaml: choosing(''),
    });
    expect(deployed.status).toBe(200);
    await page.waitForTimeout(1_100);
    await page.evaluate(`dispatchEvent(new Event('focus')); undefined`);
    await page.getByText('No longer offered, and not read any more').waitFor();
    expect(await button(page, 'Stop reading companies').count()).toBe(0);
    await isAccessible(page);
  };
}

/** An object that the config does not name may be written, and the page says so; its settings can still be changed. */
async function writtenWithoutSettings(world: World, page: Page): Promise<void> {
  const { id } = await installed(world);
  const without = {
    updateMask: ['config.content.write.objects'],
    installation: { config: { createdBy: 'api', content: { write: { objects: {} } } } },
  };
  expect((await world.platform.call('PATCH', `${all}/${id}`, without)).status).toBe(200);
  await page.reload();
  await page.getByText('Create and update · never deletes').waitFor();
  expect(await page.getByText('Not shared').count()).toBe(0);
  await stepTo(page, 'Writing');
  await page.getByRole('switch', { name: 'Allow records' }).click();
  await save(page);
  expect((await installed(world)).config.content.write.objects).toMatchObject({
    contacts: { deletionSettings: { enabled: true } },
  });
}

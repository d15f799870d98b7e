import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { deploy, fault, simulator } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, heading, isAccessible, stepTo, type Walk } from './steps.ts';

interface Installed {
  config: { content: Record<'read' | 'write', { objects: Record<string, object> }> };
}

async function contentOf({ platform }: World, group: string): Promise<Installed['config']['content']> {
  const { body } = await platform.call<Installed[]>(
    'GET',
    `/projects/default/installations?groupRef=${group}`,
  );
  return body[0]!.config.content;
}

const finish = async (page: Page): Promise<void> => {
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
};

/** The fields of one object cannot be loaded for now: the page says so until they can, and keeps what was entered. */
export const objectLoadedLater: Walk = async (world) => {
  const { hubspot } = world.platform;
  const mends = {
    'asked-by-hand': (page: Page) => button(page, 'Try again').click(),
    'asked-by-coming': (page: Page) => page.evaluate<void>(`dispatchEvent(new Event('focus')); undefined`),
    // The draft is kept while the page is left, also for the object whose fields are not loaded.
    'asked-by-return': async (page: Page) => {
      await button(page, 'Use another account').click();
      const away = page.waitForEvent('framenavigated');
      await button(page, 'Connect HubSpot').click();
      await away;
      await heading(page, 'What should be shared?').waitFor();
    },
  };
  for (const [group, mend] of Object.entries(mends)) {
    await fault(hubspot, {
      fault: { kind: 'status', status: 503 },
      path: '/crm/v3/properties/contacts',
      times: 1_000,
    });
    const page = await world.open({ group, ...(group === 'asked-by-return' ? { mode: 'redirect' } : {}) });
    await button(page, 'Connect HubSpot').click();
    await page.getByText('Could not be loaded: Contacts.').waitFor();
    await stepTo(page, 'Writing');
    await page.getByRole('switch', { name: 'Allow records' }).last().click();
    await stepTo(page, 'Review');
    await page.getByText('nothing is read of: Contacts').waitFor();
    expect(await page.getByText('Not available').count()).toBe(0);
    await isAccessible(page);
    await simulator(hubspot, 'DELETE', '/faults');
    await page.waitForTimeout(1_100);
    await mend(page);
    await page.getByText('Could not be loaded').waitFor({ state: 'detached' });
    await stepTo(page, 'Contacts');
    await page.getByRole('combobox', { name: 'Nickname' }).fill('first');
    await page.getByRole('option', { name: 'First Name' }).click();
    await finish(page);
    await heading(page, 'All set').waitFor();
    const { read, write } = await contentOf(world, group);
    expect(read.objects).toMatchObject({
      contacts: { selectedFieldMappings: { nickname: 'firstname', phone: 'phone' } },
      companies: {},
    });
    expect(write.objects).toMatchObject({ companies: { deletionSettings: { enabled: true } } });
    await page.close();
  }
};

const leaving = (reads: string, writes: string) => `specVersion: 1.0.0
integrations:
  - name: leaving
    displayName: Leaving
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields: [{ fieldName: email }]
          optionalFields: [{ fieldName: city }]
${reads}
    write:
      objects: [{ objectName: contacts }${writes}]
`;
const companies = `        - objectName: companies
          mapToDisplayName: Companies
          destination: inbox
          optionalFields: [{ fieldName: city }]`;

/** The builder drops an object that is filled in: it is left out, and the rest is set up. */
export const objectGone: Walk = async (world) => {
  await deploy(world.platform, leaving(companies, ', { objectName: companies }'));
  const page = await world.open({ group: 'leaving', integration: 'leaving' });
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'What should be shared?').waitFor();
  for (const object of ['Contacts', 'Companies']) {
    await stepTo(page, object);
    await page.getByRole('checkbox', { name: /City/ }).check();
  }
  await stepTo(page, 'Writing');
  await page.getByRole('switch', { name: 'Allow records' }).last().click();
  await stepTo(page, 'Review');
  await deploy(world.platform, leaving('', ''));
  await finish(page);
  await page.getByText('Mailmonkey has changed what it asks for').waitFor();
  await page.getByText('Companies').first().waitFor({ state: 'detached' });
  expect(await page.getByText('need your attention').count()).toBe(0);
  await isAccessible(page);
  await finish(page);
  await heading(page, 'All set').waitFor();
  const { read, write } = await contentOf(world, 'leaving');
  expect(read.objects).toEqual({ contacts: { objectName: 'contacts', selectedFields: { city: true } } });
  expect(Object.keys(write.objects)).toEqual(['contacts']);
};

import { expect } from 'vitest';
import { deploy } from '../../customer.ts';
import { button, heading, isAccessible, stepTo, type Walk } from './steps.ts';

interface Installed {
  config: { content: { read: { objects: Record<string, object> } } };
}

const offering = (more: string) => `specVersion: 1.0.0
integrations:
  - name: offering
    displayName: Offering
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields: [{ fieldName: email }]
          optionalFields: [{ fieldName: lastname }${more}]
`;

/** A chosen field that the builder no longer offers is still delivered; the customer sees it, and can end it. */
export const choiceUnoffered: Walk = async (world) => {
  await deploy(
    world.platform,
    offering(', { fieldName: city }, { mapToName: nickname, mapToDisplayName: Nickname }'),
  );
  const page = await world.open({ group: 'offering', integration: 'offering' });
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'What should be shared?').waitFor();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('job');
  await page.getByRole('option', { name: 'Job Title' }).click();
  await page.getByRole('checkbox', { name: /City/ }).check();
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await deploy(world.platform, offering(''));
  await page.reload();
  await stepTo(page, 'Contacts');
  await page.getByText('Shared, though it is not offered: City').waitFor();
  await page.getByText('matched to Job Title').waitFor();
  await isAccessible(page);
  await page.getByRole('checkbox', { name: /City.*Not offered/ }).uncheck();
  await button(page, 'Leave out nickname').click();
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
  const { body } = await world.platform.call<Installed[]>(
    'GET',
    '/projects/default/installations?groupRef=offering',
  );
  expect(body[0]?.config.content.read.objects['contacts']).toEqual({
    objectName: 'contacts',
    selectedFields: {},
    selectedFieldMappings: {},
  });
};

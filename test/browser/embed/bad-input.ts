import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { deploy, fault, simulator } from '../../customer.ts';
import { consent } from '../world.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

const finish = async (page: Page): Promise<void> => {
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
};

const asking = (more: string) => `specVersion: 1.0.0
integrations:
  - name: asking
    displayName: Asking
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields:
            - { mapToName: nickname, mapToDisplayName: Nickname }
${more}`;

/** The builder asks for another field while the form is open: the form says so, asks for it, and keeps what was typed. */
export const manifestChanged: Walk = async (world) => {
  await deploy(world.platform, asking(''));
  const page = await connected(world, 'asked', { integration: 'asking' });
  await deploy(world.platform, asking('            - { mapToName: role, mapToDisplayName: Role }\n'));
  await finish(page);
  await page.getByText('Mailmonkey has changed what it asks for').waitFor();
  await page.getByRole('combobox', { name: 'Role' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
  await isAccessible(page);
  await page.getByRole('combobox', { name: 'Role' }).fill('job');
  await page.getByRole('option', { name: 'Job Title' }).click();
  await finish(page);
  await heading(page, 'All set').waitFor();
  const { body } = await world.platform.call<{ config: { content: { read: object } } }[]>(
    'GET',
    '/projects/default/installations?groupRef=asked',
  );
  expect(body[0]?.config.content.read).toMatchObject({
    objects: { contacts: { selectedFieldMappings: { nickname: 'firstname', role: 'jobtitle' } } },
  });
};

const turning = (required: string, optional: string) => `specVersion: 1.0.0
integrations:
  - name: turning
    displayName: Turning
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          requiredFields: [{ mapToName: nickname, mapToDisplayName: Nickname }${required}]
          optionalFields: [{ fieldName: city }${optional}]
`;

/** What was optional is required while the form is open: it is told at its field, and what was typed stays, also once it is installed. */
export const requiredMeanwhile: Walk = async (world) => {
  const role = ', { mapToName: role, mapToDisplayName: Role }';
  const level = ', { mapToName: level, mapToDisplayName: Level }';
  await deploy(world.platform, turning('', role + level));
  const page = await connected(world, 'turning', { integration: 'turning' });
  const filter = page.getByLabel('“City” is');
  const isTold = async (label: string, name: string): Promise<void> => {
    await page.getByText('Mailmonkey has changed what it asks for').waitFor();
    const field = page.getByRole('combobox', { name: `${label} (required)` });
    await field.waitFor();
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Choose a field.').waitFor();
    expect(await filter.inputValue()).toBe(name);
    expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
    await isAccessible(page);
    await field.fill('job');
    await page.getByRole('option', { name: 'Job Title' }).click();
  };
  await page.getByLabel('Filter by a field').fill('city');
  await page.getByRole('option', { name: 'City' }).first().click();
  await filter.fill('Bern');
  await deploy(world.platform, turning(role, level));
  await finish(page);
  await isTold('Role', 'Bern');
  await finish(page);
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await stepTo(page, 'Contacts');
  await filter.fill('Basel');
  await deploy(world.platform, turning(role + level, ''));
  await button(page, 'Save changes').click();
  await isTold('Level', 'Basel');
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
};

/** The customer takes the access back at the provider while the form is open: they connect again, and go on where they were. */
export const connectionDied: Walk = async (world) => {
  const { hubspot } = world.platform;
  const page = await connected(world, 'died');
  await simulator(hubspot, 'POST', '/tokens', { action: 'revoke' });
  await simulator(hubspot, 'POST', '/tokens', { action: 'expire' });
  await finish(page);
  await page.getByText('The connection does not work any more').waitFor();
  await isAccessible(page);
  await consent(hubspot, 'approve');
  await button(page, 'Reconnect').click();
  await button(page, 'Finish setup').waitFor();
  await stepTo(page, 'Contacts');
  expect(await page.getByRole('combobox', { name: 'Nickname' }).inputValue()).toBe('First Name');
  await finish(page);
  await heading(page, 'All set').waitFor();
};

/** While the provider is down there is nothing to choose from: the page says so, and tries again on request. */
export const providerDown: Walk = async (world) => {
  const { hubspot } = world.platform;
  await fault(hubspot, { fault: { kind: 'status', status: 503 }, path: '/crm/v3/', times: 1_000 });
  const page = await world.open({ group: 'down' });
  await button(page, 'Connect HubSpot').click();
  await page.getByText('What your HubSpot account has could not be loaded.').waitFor();
  await isAccessible(page);
  await simulator(hubspot, 'DELETE', '/faults');
  await button(page, 'Try again').click();
  await heading(page, 'What should be shared?').waitFor();
};

/** The page says that a request takes long, and goes on. */
export const slowNetwork: Walk = async (world) => {
  const page = await connected(world, 'slow-network');
  let arrived = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let posted = 0;
  await page.route('**/installations', async (route) => {
    if (route.request().method() === 'POST') {
      posted += 1;
      await held;
    }
    await route.continue();
  });
  await finish(page);
  await page.getByText('This takes longer than usual').waitFor();
  // A second click does nothing.
  await button(page, 'Saving…').click({ force: true });
  arrived();
  await heading(page, 'All set').waitFor();
  expect(posted).toBe(1);
};

/** The session at the builder's has ended: the page says so, and keeps what was typed. */
export const signedOut: Walk = async (world) => {
  const page = await connected(world, 'signed-out');
  const cors = { 'access-control-allow-origin': world.app.url };
  const body = '{"code":"unauthenticated","status":401,"detail":"The token is over."}';
  await page.route('**/installations', (route) =>
    route.fulfill({ status: 401, contentType: 'application/problem+json', body, headers: cors }),
  );
  await page.route('**/token', (route) => route.fulfill({ status: 403, body: 'signed out' }));
  await finish(page);
  await page.getByText('Your session has ended').waitFor();
  await isAccessible(page);
  await page.unrouteAll();
  await button(page, 'Try again').click();
  await heading(page, 'All set').waitFor();
};

/** A mapped field is deleted at the provider: the page names it at its place, where another one is chosen. */
export const fieldVanished: Walk = async (world) => {
  const { hubspot } = world.platform;
  const text = { type: 'string', fieldType: 'text', groupName: 'contactinformation' };
  const properties = [
    { ...text, name: 'called', label: 'Called' },
    { ...text, name: 'shirt_size', label: 'Shirt size' },
  ];
  await simulator(hubspot, 'POST', '/schema', { object: 'contacts', properties });
  const page = await connected(world, 'vanished');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('called');
  await page.getByRole('option', { name: 'Called' }).click();
  await page.getByRole('searchbox').fill('shirt');
  await page.getByRole('checkbox', { name: /Shirt size/ }).check();
  await finish(page);
  await heading(page, 'All set').waitFor();
  await withoutFields(hubspot, properties);
  await page.reload();
  await stepTo(page, 'Contacts');
  await page.getByText('The field “called” is not in your account any more').waitFor();
  await isAccessible(page);
  await page.getByRole('combobox', { name: 'Nickname' }).fill('last');
  await page.getByRole('option', { name: 'Last Name' }).click();
  // A chosen field that is gone stays in the list, also in a search, until it is unchecked.
  await page.getByText('Not in your account any more: shirt_size').waitFor();
  await page.getByRole('searchbox').fill('shirt');
  await page.getByRole('checkbox', { name: /shirt_size.*Not available/ }).uncheck();
  await button(page, 'Save changes').click();
  await page.getByText('Saved.').waitFor();
};

/** What a builder offers and is no mapping is left out; the browser's console says where it stands. */
export const offeredBroken: Walk = async (world) => {
  const page = await connected(world, 'offered-broken', { mappings: 'broken' });
  const logged: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  await page.reload();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Stage' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Nickname' }).count()).toBe(1);
  expect([...new Set(logged)]).toEqual([
    '@svc/embed: fieldMapping.contacts[0].mapToName is no text; it is left out',
    '@svc/embed: fieldMapping.companies is no list; it is left out',
    '@svc/embed: fieldMapping.contacts: "nickname" is asked for already; it is left out',
  ]);
};

/** A field goes between loading and the end of the setup: it is told where it stands, in the language of the page. */
export const fieldGoneMeanwhile: Walk = async (world) => {
  const { hubspot } = world.platform;
  const text = { type: 'string', fieldType: 'text', groupName: 'contactinformation' };
  const properties = [
    { ...text, name: 'hat_size', label: 'hat_size' },
    { ...text, name: 'shoe_size', label: 'shoe_size' },
  ];
  await simulator(hubspot, 'POST', '/schema', { object: 'contacts', properties });
  const page = await connected(world, 'gone-meanwhile');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('hat_size');
  await page.getByRole('option', { name: 'hat_size' }).click();
  await page.getByRole('searchbox').fill('shoe');
  await page.getByRole('checkbox', { name: /shoe_size/ }).check();
  await withoutFields(hubspot, properties);
  await finish(page);
  await page.getByText('The field “hat_size” is not in your account any more').waitFor();
  await page.getByRole('alert').getByText('Not in your account any more: shoe_size').waitFor();
  expect(await page.getByText('at the provider').count()).toBe(0);
  await isAccessible(page);
  await page.getByRole('combobox', { name: 'Nickname' }).fill('last');
  await page.getByRole('option', { name: 'Last Name' }).click();
  await page.getByRole('checkbox', { name: /shoe_size/ }).uncheck();
  await finish(page);
  await heading(page, 'All set').waitFor();
};

async function withoutFields(hubspot: string, properties: readonly { name: string }[]): Promise<void> {
  const { accessToken } = await simulator<{ accessToken: string }>(hubspot, 'POST', '/tokens', {
    action: 'issue',
  });
  for (const { name } of properties) {
    const gone = await fetch(`${hubspot}/crm/v3/properties/contacts/${name}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(gone.status).toBe(204);
  }
}

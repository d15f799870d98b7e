import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { deploy, effects, fault, simulator } from '../../customer.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

const contacts = (page: Page) => page.locator('.svc-row').filter({ hasText: 'Contacts' });
const row = (page: Page, label: string) => contacts(page).getByRole('row').filter({ hasText: label });
const unfold = (page: Page, what: string): Promise<void> => contacts(page).getByText(what).click();

/** A record as it is delivered and a write as it is sent are shown before anything is saved, and in the settings later. */
export const examplesShown: Walk = async (world) => {
  const { hubspot } = world.platform;
  const before = await effects(hubspot);
  const page = await connected(world, 'examples');
  await stepTo(page, 'Writing');
  const rules = page.locator('.svc-box').first();
  await rules.getByLabel('Add a rule for a field').fill('city');
  await page.getByRole('option', { name: 'City' }).first().click();
  await rules.getByLabel('Value if none is given').fill('Bern');
  await stepTo(page, 'Review');
  // While the provider is down, the page says so.
  await fault(hubspot, { fault: { kind: 'status', status: 503 }, path: '/objects/contacts', times: 20 });
  await unfold(page, 'Example of what is read');
  await page.getByText('does not answer at present').waitFor();
  await isAccessible(page);
  await simulator(hubspot, 'DELETE', '/faults');
  await button(page, 'Try again').click();
  await row(page, 'Nickname').waitFor();
  expect(await row(page, 'Nickname').getByRole('cell').textContent()).toMatch(/^\p{L}+$/u);
  expect(await row(page, 'Email').getByRole('cell').textContent()).toContain('@example.com');
  await unfold(page, 'Example of what is written');
  await row(page, 'City').waitFor();
  expect(await row(page, 'City').getByRole('cell').allTextContents()).toEqual(['Bern', 'not sent']);
  expect(await row(page, 'First Name').getByRole('cell').allTextContents()).toEqual(['Example', 'Example']);
  await isAccessible(page);
  expect(await effects(hubspot)).toEqual(before);
  await stepTo(page, 'Contacts');
  await page.getByLabel('Filter by a field').fill('city');
  await page.getByRole('option', { name: 'City' }).first().click();
  await page.getByLabel('“City” is').fill('Nowhere at all');
  await stepTo(page, 'Review');
  await unfold(page, 'Example of what is read');
  await page.getByText('There is no record to show').waitFor();
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await unfold(page, 'Example of what is written');
  await row(page, 'City').waitFor();
};

const writing = `specVersion: 1.0.0
integrations:
  - name: writing
    displayName: Writing
    provider: hubspot
    write:
      objects: [{ objectName: companies }]
`;

/** Of an object that is written and never read no field is known: the page says so, and asks svc nothing that it refuses. */
export const exampleOfUnknown: Walk = async (world) => {
  await deploy(world.platform, writing);
  const page = await world.open({ group: 'writing', integration: 'writing' });
  await button(page, 'Connect HubSpot').click();
  await stepTo(page, 'Review');
  await page.getByText('Example of what is written').click();
  await page.getByText('Which fields Mailmonkey writes is not known here.').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
};

import { expect } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { fault, install } from '../../customer.ts';
import { barriers, first, type ConsoleWorld } from './world.ts';

const at = (world: ConsoleWorld): string =>
  `/projects/default/installations/${world.customer.installationId}`;

/** From the list to an installation, its connection and back: each says whether it works. */
export async function customerUnderstood(world: ConsoleWorld): Promise<void> {
  const page = await world.open('/projects/default/installations?healthStatus=healthy');
  await page.getByRole('row').filter({ hasText: 'acme' }).getByRole('link').press('Enter');
  await page.waitForURL(`**${at(world)}`);
  // By then the list is gone, whose rows say Healthy, too.
  await page.getByRole('heading', { name: 'Nothing is read' }).waitFor();
  await page.getByText('Healthy', { exact: true }).first().waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'acme-user' }).click();
  await page.waitForURL(`**/connections/${world.customer.connectionId}`);
  await page.getByText('connection.created').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Connect again' }).click();
  await page.getByRole('button', { name: 'Make the link' }).click();
  await page.getByRole('region', { name: 'Link' }).getByText('/connect').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.goto(`${world.platform.base}/projects/default/connections`);
  await page.getByRole('row').filter({ hasText: 'acme' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

async function openForm(world: ConsoleWorld): Promise<Page> {
  const page = await world.open(`${at(world)}?tab=config`);
  await page.getByRole('button', { name: 'Change' }).click();
  return page;
}

const deletable = (page: Page, object: string) =>
  page.getByRole('group', { name: `Write ${object}` }).getByLabel('Records may be deleted');

/** Two people change one config: the second is told what the first did, and nothing of either is lost. */
export async function twoChangeOneConfig(world: ConsoleWorld): Promise<void> {
  const [one, other] = [await openForm(world), await openForm(world)];
  await deletable(other, 'contacts').check();
  await deletable(one, 'companies').check();
  expect(await barriers(one)).toEqual([]);
  await one.getByRole('button', { name: 'Save' }).click();
  await one.getByText('The config is saved').waitFor();
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByText(`${first.name} saved another config meanwhile.`).waitFor();
  expect(await deletable(other, 'companies').isChecked()).toBe(true);
  expect(await barriers(other)).toEqual([]);
  // What was not saved is not lost by leaving.
  await other.getByRole('link', { name: 'Storage' }).click();
  const asked = other.getByRole('dialog', { name: 'Leave without saving?' });
  await asked.getByRole('button', { name: 'Stay' }).click();
  await asked.waitFor({ state: 'detached' });
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByText('The config is saved').waitFor();
  await one.close();
  await other.close();
  expect((await objectsOf(world)).contacts).toHaveProperty('deletionSettings');
  expect((await objectsOf(world)).companies).toHaveProperty('deletionSettings');
}

/** A fault stands in the form with its path; the first config is restored from the history, which shows what differs. */
export async function configRestored(world: ConsoleWorld): Promise<void> {
  const page = await openForm(world);
  await page.getByRole('tab', { name: 'JSON' }).click();
  const text = page.getByRole('textbox', { name: 'Config' });
  await text.fill('{');
  await page.getByText(/This is no JSON/).waitFor();
  await text.fill('{"provider": "hubspot", "write": {"objects": {"contacts": {}}}}');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/write\.objects\.contacts/)
    .first()
    .waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('The first config.').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Restore …' }).last().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('write › objects › companies › deletionSettings › enabled').waitFor();
  // Meanwhile somebody else changes it: nothing is lost, and it can be restored all the same.
  await world.platform.call('PATCH', at(world).replace('/default/', '/default/integrations/hubspot-crm/'), {
    updateMask: ['config.createdBy', 'config.content.write.objects.contacts'],
    installation: {
      config: {
        createdBy: 'builder:bob',
        content: { write: { objects: { contacts: { objectName: 'contacts' } } } },
      },
    },
  });
  await dialog.getByRole('button', { name: 'Restore it' }).click();
  await dialog.getByText('bob saved another config meanwhile.').waitFor();
  await dialog.getByText('What they changed').waitFor();
  expect(await barriers(page)).toEqual([]);
  expect((await objectsOf(world)).companies).toHaveProperty('deletionSettings');
  await dialog.getByRole('button', { name: 'Restore it' }).click();
  await page.getByText('The config is restored').waitFor();
  expect((await objectsOf(world)).companies).not.toHaveProperty('deletionSettings');
  // The person who restored it, not the program that does so for them.
  await page.locator('article').filter({ hasText: 'In force' }).getByText(first.name).waitFor();
  await page.close();
}

/** The group `readers` reads on demand: its read is paused and goes on, by the page of the installation. */
export async function readPaused(world: ConsoleWorld): Promise<void> {
  const { platform } = world;
  const { installationId } = await install(platform, 'hubspot-crm', 'readers', {
    read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
    write: { objects: { contacts: { objectName: 'contacts' } } },
  });
  const page = await world.open(`/projects/default/installations/${installationId}`);
  const read = page.getByRole('region', { name: 'contacts' });
  await read.getByText('Works', { exact: true }).waitFor();
  const paused = async (): Promise<string | undefined> => {
    type State = { paused?: { reason: string } }[];
    const path = `/projects/default/integrations/hubspot-crm/installations/${installationId}/reads`;
    return (await platform.call<State>('GET', path)).body[0]?.paused?.reason;
  };
  await read.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('It is paused').waitFor();
  await read.getByRole('button', { name: 'Go on' }).waitFor();
  await read.locator('.badge', { hasText: 'Paused' }).waitFor();
  expect(await paused()).toBe('object');
  expect(await barriers(page)).toEqual([]);
  await page.reload();
  await read.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('It goes on').waitFor();
  await read.getByText('Works', { exact: true }).waitFor();
  expect(await paused()).toBeUndefined();
  await page.close();
}

const fact = (page: Page, name: string): Locator =>
  page.locator('dl > div').filter({ has: page.getByText(name, { exact: true }) });

/** The page of a connection shows the age of its token, how many calls the provider still takes, and when it takes none. */
export async function tokenAndBudgetShown({ platform, open }: ConsoleWorld): Promise<void> {
  type Known = { id: string; tokenIssueTime: string; tokenExpireTime: string; rateBudget?: object };
  const [{ id } = { id: '' }] = (
    await platform.call<Known[]>('GET', '/projects/default/connections?groupRef=readers')
  ).body;
  const known = async (): Promise<Known> =>
    (await platform.call<Known>('GET', `/projects/default/connections/${id}`)).body;
  const write = (mode: string) =>
    platform.call<{ operationId: string }>(
      'POST',
      '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      { groupRef: 'readers', type: 'create', mode, record: { email: `${mode}@readers.example` } },
    );
  await write('synchronous');
  const page = await open(`/projects/default/connections/${id}`);
  const token = fact(page, 'Access token');
  await token.getByText(/^of (now|.+ ago), ends in \d+ min\.$/).waitFor();
  const { tokenIssueTime, tokenExpireTime, rateBudget } = await known();
  const times = await token
    .locator('time')
    .evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
  expect(times).toEqual([tokenIssueTime, tokenExpireTime]);
  expect(rateBudget).toMatchObject({ limit: 110 });
  await fact(page, 'Rate budget')
    .getByText(/^1?\d\d? of 110 calls left$/)
    .waitFor();
  await fault(platform.hubspot, {
    path: '/contacts',
    fault: { kind: 'status', status: 429, body: { message: 'Too many.' }, headers: { 'retry-after': '40' } },
    times: 1,
  });
  await write('asynchronous');
  await expect.poll(async () => (await known()).rateBudget).toHaveProperty('closedUntil');
  // The page reads it again by itself.
  await fact(page, 'Rate budget')
    .getByText(/^Reached: nothing queued is sent until /)
    .waitFor({ timeout: 25_000 });
  expect(await barriers(page)).toEqual([]);
  const { body } = await write('asynchronous');
  await page.goto(`${platform.base}/projects/default/operations/${body.operationId}`);
  await fact(page, 'Next attempt')
    .getByText(/^in .+, once the limit of the provider is over$/)
    .waitFor();
  await page.close();
}

async function objectsOf({ platform, customer }: ConsoleWorld): Promise<Record<string, object>> {
  type Body = { config: { content: { write: { objects: Record<string, object> } } } };
  const { body } = await platform.call<Body>(
    'GET',
    `/projects/default/installations/${customer.installationId}`,
  );
  return body.config.content.write.objects;
}

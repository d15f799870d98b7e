import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { deploy, install, manifest } from '../../customer.ts';
import { barriers, enterAs, first, type ConsoleWorld, type Walk } from './world.ts';

const gone = (page: Page, what: string): Promise<void> =>
  page.getByText(`There is no such ${what}, or you may not see it.`).waitFor();

/** A role is lowered while a form is open: what was typed stays, and the page says what is no longer allowed. */
export const roleLowered: Walk = async (world) => {
  const { context, personId } = await enterAs(world, 'developer', 'lowered@roles.example');
  const page = await openHeard(world, '/projects/default/destinations/told', context);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('typed-before');
  await give(world, personId, 'viewer');
  const why = 'This takes the role of a developer or an owner';
  await page.locator(`button[aria-disabled][title="${why}"]`, { hasText: 'Delete' }).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/your role has view/)
    .waitFor();
  await dialog.getByText('An owner of the project can give you another role.').waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('typed-before');
  expect(await barriers(page)).toEqual([]);
  // With the role back, the buttons work again.
  await give(world, personId, 'developer');
  await page.locator(`button[title="${why}"]`).first().waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await context.close();
};

/** Without a stream, a page learns of a lowered role when an action is refused; then its buttons say so, too. */
export const roleLoweredUnheard: Walk = async (world) => {
  const { context, personId } = await enterAs(world, 'support', 'unheard@roles.example');
  await context.route('**/stream', (route) => route.abort());
  const page = await world.open('/projects/default/destinations/told', context);
  const test = page.getByRole('button', { name: 'Send a test' });
  await test.waitFor();
  await give(world, personId, 'viewer');
  await test.click();
  await page
    .getByRole('alert')
    .getByText(/your role has view/)
    .waitFor();
  await test.and(page.getByTitle('Your role sees, and changes nothing')).waitFor();
  await remove(world, personId);
  await page.getByRole('link', { name: 'Operations' }).click();
  await gone(page, 'project');
  await context.close();
};

/** Somebody who is removed from a project keeps what they typed, and sees that it is gone, and the way to their other projects. */
export const membershipRemoved: Walk = async (world) => {
  const { context, personId } = await enterAs(world, 'owner', 'removed@roles.example');
  const page = await openHeard(world, '/projects/default/keys', context);
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByLabel('Label').fill('never made');
  await remove(world, personId);
  await page.getByText('You are no member of this project any more, or it is gone.').waitFor();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByLabel('Label').inputValue()).toBe('never made');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  await gone(page, 'project');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'To your projects' }).click();
  await page.getByRole('heading', { name: 'You are in no project' }).waitFor();
  await context.close();
};

/** A page goes on under the new name of its project, and nothing that was typed is lost. */
export const projectRenamed: Walk = async (world) => {
  const { platform, stranger } = world;
  const context = await stranger();
  const headers = { origin: platform.base };
  const ask = async (method: string, path: string, data: object): Promise<void> => {
    const answer = await context.request.fetch(`${platform.base}/v1${path}`, { method, data, headers });
    expect([path, answer.ok()]).toEqual([path, true]);
  };
  await ask('POST', '/session', { email: first.email, password: first.password });
  await ask('POST', '/projects', { name: 'under-ones-feet' });
  const page = await openHeard(world, '/projects/under-ones-feet/keys', context);
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByLabel('Label').fill('typed before');
  await ask('PATCH', '/projects/under-ones-feet', { updateMask: ['name'], project: { name: 'elsewhere' } });
  await page.waitForURL('**/projects/elsewhere/keys');
  expect(await page.getByLabel('Label').inputValue()).toBe('typed before');
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.getByText('It is shown only now').waitFor();
  // A name counts the same in upper and lower case, as in the API.
  await page.goto(`${platform.base}/projects/ELSEWHERE/keys`);
  await page.getByRole('button', { name: 'New API key' }).waitFor();
  // The old address is nobody's.
  await page.goto(`${platform.base}/projects/under-ones-feet/keys`);
  await gone(page, 'project');
  await page.getByRole('link', { name: 'To your projects' }).click();
  await page.waitForURL((url) => !url.pathname.includes('under-ones-feet'));
  await page.getByRole('heading', { level: 1 }).waitFor();
  await context.close();
};

/** A page says that what it shows was deleted by somebody else, also while it is being changed. */
export const deletedUnderOnesFeet: Walk = async (world) => {
  const { platform } = world;
  const made = await platform.call<{ id: string }>('POST', '/projects/default/destinations', {
    name: 'short-lived',
    type: 'webhook',
    metadata: { url: 'http://127.0.0.1:9/' },
  });
  await deploy(
    platform,
    `${manifest}  - { name: short-lived, provider: hubspot, proxy: { enabled: true } }\n`,
  );
  const brief = await install(platform, 'hubspot-crm', 'brief', {
    write: { objects: { contacts: { objectName: 'contacts' } } },
  });
  const installation = `integrations/hubspot-crm/installations/${brief.installationId}`;
  const written = await brief.write('contacts', {
    type: 'create',
    record: { email: 'brief@acme.example' },
  });
  // By the id or the name in the address, and with a window or a form open.
  await goesAway(world, `destinations/${made.body.id}`, 'destinations/short-lived', 'destination', 'Change');
  await goesAway(world, 'integrations/short-lived', 'integrations/short-lived', 'integration', 'Delete …');
  const page = await openHeard(world, `/projects/default/installations/${brief.installationId}`);
  await page.getByText('Healthy', { exact: true }).waitFor();
  await goesAway(
    world,
    `connections/${brief.connectionId}`,
    `connections/${brief.connectionId}`,
    'connection',
  );
  await page.getByText('Its connection is gone.').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.close();
  const tab = `installations/${brief.installationId}?tab=config`;
  await goesAway(world, tab, installation, 'installation', 'Change');
  // An operation still names the group of the deleted installation, and is found by it.
  const operation = `/projects/default/operations/${written.body.operationId}`;
  const left = await world.open(operation);
  await left.getByRole('link', { name: 'brief', exact: true }).click();
  await left.waitForURL('**/operations?groupRef=brief');
  await left.getByRole('row').nth(1).getByRole('link').click();
  await left.waitForURL(`**${operation}`);
  await left.close();
};

/** Opens a page and what its button opens, deletes what it shows, and sees that it is gone. */
async function goesAway(
  world: ConsoleWorld,
  path: string,
  target: string,
  what: string,
  button?: string,
): Promise<void> {
  const page = await openHeard(world, `/projects/default/${path}`);
  if (button) await page.getByRole('button', { name: button, exact: true }).click();
  const { status } = await world.platform.call('DELETE', `/projects/default/${target}`);
  expect([target, status]).toEqual([target, 204]);
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  await gone(page, what);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.close();
}

/** A page that hears what changes: its stream is open, or that of another page of its browser. */
async function openHeard(world: ConsoleWorld, path: string, context?: BrowserContext): Promise<Page> {
  const page = await world.open('/no/such/page', context);
  const isAlone = page.context().pages().length === 1;
  const heard = isAlone && page.waitForResponse((response) => response.url().endsWith('/stream'));
  await page.goto(world.platform.base + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await heard;
  return page;
}

async function give({ platform }: ConsoleWorld, personId: string, role: string): Promise<void> {
  const path = `/projects/default/members/${personId}`;
  expect((await platform.call('PATCH', path, { role })).status).toBe(200);
}

async function remove({ platform }: ConsoleWorld, personId: string): Promise<void> {
  expect((await platform.call('DELETE', `/projects/default/members/${personId}`)).status).toBe(204);
}

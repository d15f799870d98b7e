import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import { barriers, enterAs, type ConsoleWorld, type Walk } from './world.ts';

/** What a button says to somebody who lacks the ability. */
const whyNot = {
  remediate: 'Your role sees, and changes nothing',
  develop: 'This takes the role of a developer or an owner',
  own: 'This takes the role of an owner',
  operate: 'Only an operator of this installation makes projects',
} as const;
type Ability = keyof typeof whyNot;

/** The roles that are given in a project. The first user, who is an operator, too, does the other walks. */
const abilities: Readonly<Record<string, readonly Ability[]>> = {
  owner: ['remediate', 'develop', 'own'],
  developer: ['remediate', 'develop'],
  support: ['remediate'],
  viewer: [],
};

type Buttons = Readonly<Record<string, Ability>>;

/** All buttons of a project that change something, page by page, below the project or by their whole path. */
function pagesOf(ids: Record<'operation' | 'installation' | 'connection', string>): [string, Buttons][] {
  return [
    ['/projects', { 'New project': 'operate' }],
    ['operations', { 'All of these …': 'remediate' }],
    [`operations/${ids.operation}`, { Retry: 'remediate' }],
    ['deliveries', { 'Send all of these again …': 'remediate' }],
    [`installations/${ids.installation}`, { Delete: 'develop', Pause: 'remediate', 'Read now': 'remediate' }],
    [`installations/${ids.installation}?tab=config`, { Delete: 'develop', Change: 'develop' }],
    [`connections/${ids.connection}`, { 'Connect again': 'develop', Delete: 'develop' }],
    ['destinations', { 'New destination': 'develop' }],
    [
      'destinations/untold',
      {
        Disable: 'remediate',
        Change: 'develop',
        Delete: 'develop',
        'Send a test': 'remediate',
        Show: 'develop',
        'Rotate …': 'develop',
      },
    ],
    ['notifications', { Change: 'develop' }],
    ['integrations', { 'Deploy a manifest': 'develop' }],
    ['integrations/hubspot-crm', { 'Delete …': 'develop' }],
    ['audit-log', { 'Export as CSV': 'develop', 'As JSON lines': 'develop' }],
    ['deploy', { Deploy: 'develop' }],
    ['providers?tab=apps', { 'New provider app': 'develop' }],
    ['keys', { 'New API key': 'develop' }],
    ['keys?tab=public', { 'New public key': 'develop' }],
    ['people', { Invite: 'own' }],
    ['storage', { 'Erase …': 'develop', Save: 'develop' }],
    ['settings', { Save: 'develop' }],
  ];
}

/** Pages that together have a button for every ability. */
const telling = /^\/projects|^operations\/|told$|^people/;

/** A button that a role may not press says why, and no other does. A viewer looks at every page, the others at some. */
export const eachRoleMayItsOwn: Walk = async (world) => {
  const { platform, customer } = world;
  const operation = await failedWrite(world, 'Refused Ltd');
  // Nothing waits for a new destination.
  const untold = { name: 'untold', type: 'webhook', metadata: { url: 'https://hooks.example.com/' } };
  await platform.call('POST', '/projects/default/destinations', untold);
  const listed = await platform.call<{ id: string }[]>(
    'GET',
    '/projects/default/installations?groupRef=readers',
  );
  const [installation = { id: '' }] = listed.body;
  const pages = pagesOf({ operation, installation: installation.id, connection: customer.connectionId });
  const lookAsOne = async ([role, may]: [string, readonly Ability[]]): Promise<void> => {
    const { context } = await enterAs(world, role);
    const page = await context.newPage();
    for (const [path, buttons] of pages.filter((one) => role === 'viewer' || telling.test(one[0]))) {
      await page.goto(platform.base + (path.startsWith('/') ? path : `/projects/default/${path}`));
      for (const name of Object.keys(buttons))
        await page.getByRole('button', { name, exact: true }).first().waitFor();
      const refused = Object.entries(buttons).filter(([, ability]) => !may.includes(ability));
      expect([role, path, await refusedIn(page)]).toEqual([
        role,
        path,
        Object.fromEntries(refused.map(([name, ability]) => [name, whyNot[ability]])),
      ]);
    }
    await context.close();
  };
  await Promise.all(Object.entries(abilities).map(lookAsOne));
  await platform.call('DELETE', '/projects/default/destinations/untold');
};

/** The buttons of the page that the role may not press, by name, with what they say. */
async function refusedIn(page: Page): Promise<Record<string, string | null>> {
  const reasons = page.locator(
    Object.values(whyNot)
      .map((reason) => `button[aria-disabled][title="${reason}"]`)
      .join(),
  );
  const found: [string, string | null][] = [];
  for (const button of await reasons.all())
    found.push([(await button.innerText()).trim(), await button.getAttribute('title')]);
  return Object.fromEntries(found);
}

async function failedWrite({ platform, customer }: ConsoleWorld, name: string): Promise<string> {
  await fault(platform.hubspot, {
    path: '/companies',
    fault: { kind: 'status', status: 400, body: { message: 'Not this one.' } },
    times: 1,
  });
  return (await customer.write('companies', { type: 'create', record: { name } })).body.operationId;
}

/** Support retries, and is shown no secret and no audit log; a developer is shown secrets, and lets nobody in. */
export const supportWithoutSecrets: Walk = async (world) => {
  const { platform } = world;
  const operation = await failedWrite(world, 'Retried by support Ltd');
  const support = await enterAs(world, 'support', 'sam@roles.example');
  const page = await world.open(`/projects/default/operations/${operation}`, support.context);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('link', { name: operation }).waitFor();
  await page.getByText('Done', { exact: true }).waitFor();
  await page.goto(`${platform.base}/projects/default/audit-log`);
  await page
    .getByRole('alert')
    .getByText(/your role has view, remediate/)
    .waitFor();
  await page.getByText('An owner of the project can give you another role.').waitFor();
  expect(await barriers(page)).toEqual([]);
  const secrets = '/v1/projects/default/destinations/told?includeSecrets=true';
  expect((await support.context.request.get(platform.base + secrets)).status()).toBe(403);
  await support.context.close();
  const developer = await enterAs(world, 'developer', 'dora@roles.example');
  const theirs = await world.open('/projects/default/destinations/told', developer.context);
  await theirs.getByRole('button', { name: 'Show', exact: true }).click();
  await theirs.getByText(/^whsec_/).waitFor();
  await theirs.goto(`${platform.base}/projects/default/keys`);
  await theirs.getByRole('button', { name: 'New API key' }).click();
  await theirs.getByRole('checkbox', { name: 'Develop', exact: true }).waitFor();
  expect(await theirs.getByRole('checkbox', { name: 'Full', exact: true }).count()).toBe(0);
  await developer.context.close();
};

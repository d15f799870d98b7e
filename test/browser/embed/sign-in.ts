import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { consent, type World } from '../world.ts';
import { button, heading, type Walk } from './steps.ts';

const connect = async (page: Page, within = '#first', name = 'Connect HubSpot'): Promise<Page> => {
  const opening = page.waitForEvent('popup');
  await page.locator(within).getByRole('button', { name, exact: true }).click();
  return opening;
};
const connectionsOf = async ({ platform }: World, group: string): Promise<string[]> => {
  const { body } = await platform.call<{ provider: string; consumer: { consumerRef: string } }[]>(
    'GET',
    `/projects/default/connections?groupRef=${group}`,
  );
  return body.map(({ provider, consumer }) => `${provider} ${consumer.consumerRef}`).toSorted();
};

/** A sign-in is not disturbed by that of a colleague, nor by messages of other windows. */
export const onlyItsOwnWindow: Walk = async (world) => {
  const { hubspot } = world.platform;
  const page = await world.open({ group: 'both', show: 'ConnectProvider' });
  const logged: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  await consent(hubspot, 'page');
  const popup = await connect(page);
  await popup.getByRole('button', { name: 'Approve' }).waitFor();
  await consent(hubspot, 'approve');
  const colleague = await world.open({ group: 'both', show: 'ConnectProvider', consumer: 'ben' });
  await button(colleague, 'Connect HubSpot').click();
  await colleague.getByText('Connected to HubSpot').waitFor();
  // Another window of the same origin as svc, opened by the same page.
  const opened = page.waitForEvent('popup');
  await page.evaluate(`window.open(${JSON.stringify(`${world.platform.base}/healthz`)}); undefined`);
  const other = await opened;
  await other.waitForURL(`${world.platform.base}/healthz`);
  await other.evaluate(
    `opener.postMessage({ eventType: 'AUTHORIZATION_FAILED', data: { error: 'No.', reason: 'denied' } }, '*'); undefined`,
  );
  await other.close();
  // Svc is asked every two seconds: it has been asked by now.
  await page.waitForTimeout(2_600);
  expect(popup.isClosed()).toBe(false);
  await page.getByText('Finish signing in').waitFor();
  await popup.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Connected to HubSpot').waitFor();
  expect(await connectionsOf(world, 'both')).toEqual(['hubspot ada', 'hubspot ben']);
  expect(logged.filter((text) => text.includes('postMessage'))).toEqual([]);
};

/** Two integrations on one page are connected at the same time, each in a window of its own. */
export const twoOnOnePage: Walk = async (world) => {
  const { hubspot } = world.platform;
  const page = await world.open({ group: 'two', second: 'salesforce-crm' });
  await page.locator('#second').getByLabel('My Domain').fill('acme');
  await consent(hubspot, 'page');
  const first = await connect(page);
  await first.getByRole('button', { name: 'Approve' }).waitFor();
  await connect(page, '#second', 'Connect Salesforce');
  await page.locator('#second').getByRole('heading', { name: 'What should be shared?' }).waitFor();
  expect(first.isClosed()).toBe(false);
  await page.locator('#first').getByText('Finish signing in').waitFor();
  await first.getByRole('button', { name: 'Approve' }).click();
  await page.locator('#first').getByRole('heading', { name: 'What should be shared?' }).waitFor();
  await consent(hubspot, 'approve');
  expect(await connectionsOf(world, 'two')).toEqual(['hubspot ada', 'salesforce ada']);
};

/** Parameters that anybody can put into an address are neither shown nor removed; those of an own sign-in are. */
export const returnOfItsOwn: Walk = async (world) => {
  const words = {
    error: 'Call +1-555-0100 and tell your password.',
    errorReason: 'failed',
    connectionId: 'mine',
  };
  const page = await world.open({ group: 'returns', mode: 'redirect', ...words });
  await button(page, 'Connect HubSpot').waitFor();
  expect(await page.getByText('+1-555-0100').count()).toBe(0);
  expect(new URL(page.url()).searchParams.get('connectionId')).toBe('mine');
  await consent(world.platform.hubspot, 'deny');
  const left = await world.open({ group: 'returns', mode: 'redirect', error: 'ours', connectionId: 'mine' });
  await button(left, 'Connect HubSpot').click();
  await left.getByText('Access to HubSpot was not granted.').waitFor();
  // The parameters from before the sign-in are there again.
  const { searchParams } = new URL(left.url());
  expect(
    ['error', 'connectionId', 'errorReason', 'svcConnect'].map((name) => searchParams.get(name)),
  ).toEqual(['ours', 'mine', null, null]);
  expect(searchParams.get('group')).toBe('returns');
  await consent(world.platform.hubspot, 'approve');
};

/** In a frame of the builder's page a provider cannot be shown: it gets a window. */
export const hostedInFrame: Walk = async (world) => {
  const url = await world.link({ groupRef: 'framed', singleUse: false });
  const page = await world.open({ group: 'framed' });
  await button(page, 'Connect HubSpot').waitFor();
  await page.evaluate(
    `document.body.innerHTML = '<iframe width="900" height="800"></iframe>'; document.querySelector('iframe').src = ${JSON.stringify(url)}; undefined`,
  );
  const frame = page.frameLocator('iframe');
  await frame.getByRole('button', { name: 'Connect HubSpot' }).click();
  await frame.getByRole('heading', { name: 'What should be shared?' }).waitFor();
  // Where windows are blocked, a link opens the sign-in.
  const barred = await world.link({ groupRef: 'barred', singleUse: false });
  await page.evaluate(`document.querySelector('iframe').src = 'about:blank'; undefined`);
  await page.evaluate(`document.querySelector('iframe').src = ${JSON.stringify(barred)}; undefined`);
  await frame.getByRole('button', { name: 'Connect HubSpot' }).waitFor();
  await page.frames()[1]?.evaluate('window.open = () => null; undefined');
  await frame.getByRole('button', { name: 'Connect HubSpot' }).click();
  await frame.getByRole('link', { name: 'Open the sign-in window' }).click();
  await frame.getByRole('heading', { name: 'What should be shared?' }).waitFor();
};

/** A page of an origin that the project does not list gets nothing; the browser's console says why. */
export const originNotListed: Walk = async (world) => {
  const logged: string[] = [];
  const strange = { ...world.app, url: world.app.url.replace('127.0.0.1', 'localhost') };
  const page = await world.open({ group: 'strange', hear: '1' }, strange);
  page.on('console', (message) => logged.push(message.text()));
  await page.getByText('cannot be reached').waitFor();
  await page.reload();
  await page.getByText('cannot be reached').waitFor();
  expect(logged.join('\n')).toContain(
    `look at baseUrl and project, and list ${strange.url} in allowedOrigins`,
  );
  expect(await heading(page, 'Connect HubSpot').count()).toBe(0);
};

/** A page whose policy cuts its windows off says that it does not see them, and asks svc; one that lets them be hears them. */
export const openerCut: Walk = async (world) => {
  const { hubspot } = world.platform;
  for (const [coop, text, isClosed] of [
    ['same-origin', 'This page does not see the window any more', false],
    ['same-origin-allow-popups', 'Finish signing in', true],
  ] as const) {
    const page = await world.open({ group: coop, show: 'ConnectProvider', coop });
    await consent(hubspot, 'page');
    const popup = await connect(page);
    await popup.getByRole('button', { name: 'Approve' }).waitFor();
    // The page looks every two seconds.
    await page.waitForTimeout(2_600);
    await page.getByText(text).waitFor();
    const closed = isClosed ? popup.waitForEvent('close') : popup.waitForURL(`${world.platform.base}/**`);
    await popup.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Connected to HubSpot').waitFor();
    await closed;
    await consent(hubspot, 'approve');
  }
};

/** A relative return address is one of the page's; what is none at all is told. */
export const returnRelative: Walk = async (world) => {
  const query = { group: 'relative', mode: 'redirect', show: 'ConnectProvider' };
  const wrong = await world.open({ ...query, returnUrl: 'http://[' });
  await button(wrong, 'Connect HubSpot').click();
  await wrong.getByRole('alert').getByText('That did not work.').waitFor();
  expect(await button(wrong, 'Connect HubSpot').isEnabled()).toBe(true);
  const { search } = new URL(wrong.url());
  const page = await world.open({ ...query, returnUrl: `/${search}&back=1` });
  await button(page, 'Connect HubSpot').click();
  await page.getByText('Connected to HubSpot').waitFor();
  expect(page.url()).toBe(`${world.app.url}/${search}&back=1`);
};

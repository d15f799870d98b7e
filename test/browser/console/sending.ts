import { expect } from 'vitest';
import { startReceiver } from '../../receiver.ts';
import { barriers, type ConsoleWorld } from './world.ts';

/** A destination is made by the form, which shows a fault at its field, then tested, its key shown and rotated. */
export async function destinationMade({ platform, open }: ConsoleWorld): Promise<void> {
  const receiver = await startReceiver();
  const page = await open('/projects/default/destinations');
  await page.getByRole('button', { name: 'New destination' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('told');
  await dialog.getByRole('button', { name: 'Make it' }).click();
  await dialog.getByLabel('URL').and(page.locator('[aria-invalid]')).waitFor();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByRole('button', { name: 'Make it' }).click();
  await page.getByRole('heading', { name: 'told', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('It was taken').waitFor();
  expect(receiver.received).toHaveLength(1);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByText(/^whsec_/).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Rotate …' }).click();
  await page.getByRole('button', { name: 'Make a new key' }).click();
  await page
    .getByRole('dialog')
    .getByText(/^whsec_/)
    .waitFor();
  await page.close();
  await receiver.close();
  const { body } = await platform.call<{ results: { action: string }[] }>(
    'GET',
    '/projects/default/audit-log',
  );
  expect(body.results.map(({ action }) => action)).toContain('destination.created');
}

/** One form routes events to the destination; a failed delivery says why, and is sent again after a count. */
export async function deliveryReplayed({ platform, open, customer }: ConsoleWorld): Promise<void> {
  const receiver = await startReceiver();
  receiver.answer = 500;
  await platform.call('PATCH', '/projects/default/destinations/told', {
    updateMask: ['metadata.url'],
    destination: { metadata: { url: receiver.url } },
  });
  const page = await open('/projects/default/notifications');
  await page.getByRole('heading', { name: 'Nothing is told yet' }).waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('group', { name: 'told' }).getByLabel('Asynchronous write ended').check();
  expect(await barriers(page)).toEqual([]);
  // What somebody else saved meanwhile stays.
  const notifications = '/projects/default/notifications';
  const routes = [{ destination: 'told', eventTypes: ['read.schedule.paused'] }];
  expect((await platform.call('PUT', notifications, { routes })).status).toBe(200);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The notifications are saved').waitFor();
  const saved = await platform.call<{ routes: { eventTypes: string[] }[] }>('GET', notifications);
  expect(saved.body.routes.flatMap(({ eventTypes }) => eventTypes).toSorted()).toEqual([
    'read.schedule.paused',
    'write.async.done',
  ]);
  routes[0]!.eventTypes = ['write.async.done'];
  await platform.call('PUT', notifications, { routes });
  const record = { email: 'told@acme.example' };
  await customer.write('contacts', { type: 'create', record, mode: 'asynchronous' });
  await page.goto(`${platform.base}/projects/default/deliveries`);
  const row = page.getByRole('row').filter({ hasText: 'Asynchronous write ended' });
  await row.getByText('To be tried again').waitFor();
  expect(await barriers(page)).toEqual([]);
  await row.getByRole('link').click();
  await page.getByRole('region', { name: 'Body of the message' }).getByText('write.async.done').waitFor();
  await page.getByText(/It is tried again by itself: (in|now|\d)[^.]*\.?$/).waitFor();
  expect(await barriers(page)).toEqual([]);
  receiver.answer = 204;
  // On a slow machine its second attempt was in vain, too, and the third is minutes away.
  await platform.call('POST', '/projects/default/destinations/told:enable');
  await page.getByText('Delivered', { exact: true }).waitFor();
  await page.close();
  const before = receiver.received.length;
  await replayAll(open);
  expect(receiver.received.length).toBeGreaterThan(before);
  await receiver.close();
}

async function replayAll(open: ConsoleWorld['open']): Promise<void> {
  const page = await open('/projects/default/deliveries?status=delivered');
  await page.getByRole('button', { name: 'Send all of these again …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox').click();
  await page.getByRole('option', { name: 'told' }).click();
  await dialog.getByText(/^\d+ messages?$/).waitFor();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: /^Send \d+ again$/ }).click();
  await page.getByRole('heading', { name: 'Replay', level: 1 }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByText('Done', { exact: true }).waitFor();
  const chosen = page.locator('section').filter({ hasText: 'What was chosen' });
  await chosen.getByText('Status', { exact: true }).waitFor();
  await chosen.getByText('Delivered', { exact: true }).waitFor();
  await page.close();
}

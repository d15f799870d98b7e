import { expect } from 'vitest';
import { startReceiver } from '../../receiver.ts';
import { barriers, type ConsoleWorld } from './world.ts';

interface Waiting {
  id: string;
  attemptCount: number;
}

const told = '/projects/default/destinations/told';

/**
 * A destination that refuses everything is counted on the overview. Once it is mended, what waits there is sent. A delivery that
 * waits for a disabled destination says so.
 */
export async function waitingSent(world: ConsoleWorld): Promise<void> {
  const { platform, open } = world;
  const receiver = await startReceiver();
  receiver.answer = 500;
  await platform.call('PATCH', told, {
    updateMask: ['metadata.url'],
    destination: { metadata: { url: receiver.url } },
  });
  // After the second attempt the next one is minutes away.
  const { id } = await waitingThere(world, 2);
  const page = await open('/projects/default/overview');
  const needs = page.getByRole('listitem').filter({ hasText: 'Destinations that refuse what is sent' });
  const count = Number(await needs.locator('.needs-count').textContent());
  expect(await page.getByText('All is well.').count()).toBe(0);
  await needs.getByRole('link').click();
  await page.waitForURL('**/destinations?state=failing');
  const rows = page.getByRole('table', { name: 'Destinations' }).locator('tbody tr');
  await rows.filter({ hasText: 'told' }).getByText('Failing').waitFor();
  expect(await rows.count()).toBe(count);
  expect(await barriers(page)).toEqual([]);
  await page.goto(`${platform.base}/projects/default/deliveries?status=pending`);
  await page.getByRole('link', { name: 'the destination that fails' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.goto(`${platform.base}/projects/default/deliveries/${id}`);
  await page.getByText(/It is tried again by itself/).waitFor();
  await page.getByRole('link', { name: 'send what waits there now' }).click();
  await page.getByRole('heading', { name: 'told', level: 1 }).waitFor();
  expect(await barriers(page)).toEqual([]);
  const before = receiver.received.length;
  receiver.answer = 204;
  await page.getByRole('button', { name: 'Send what waits now' }).click();
  await page.locator('.page-title').getByText('Active', { exact: true }).waitFor();
  await expect
    .poll(() => receiver.received.slice(before).map(({ headers }) => headers['webhook-id']))
    .toContain(id);
  expect(await page.getByRole('button', { name: 'Send what waits now' }).count()).toBe(0);
  receiver.answer = 500;
  const stopped = await waitingThere(world, 1);
  await platform.call('POST', `${told}:disable`);
  await page.goto(`${platform.base}/projects/default/deliveries/${stopped.id}`);
  await page.getByText(/^It waits until its destination is enabled/).waitFor();
  expect(await page.getByText(/tried again by itself/).count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  receiver.answer = 204;
  await platform.call('POST', `${told}:enable`);
  await page.getByText('Delivered', { exact: true }).waitFor();
  await page.close();
  await receiver.close();
}

/** The delivery that tells of a new write, after so many failed attempts. */
async function waitingThere({ platform, customer }: ConsoleWorld, attempts: number): Promise<Waiting> {
  const record = { email: `waiting-${attempts}@acme.example` };
  await customer.write('contacts', { type: 'create', record, mode: 'asynchronous' });
  const query = 'destination=told&status=pending';
  let found: Waiting | undefined;
  await expect
    .poll(
      async () => {
        const path = `/projects/default/deliveries?${query}`;
        const { body } = await platform.call<{ results: Waiting[] }>('GET', path);
        found = body.results[0];
        return found?.attemptCount;
      },
      { timeout: 20_000 },
    )
    .toBe(attempts);
  return found ?? expect.fail('nothing waits');
}

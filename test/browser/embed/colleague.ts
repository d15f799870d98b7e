import { expect } from 'vitest';
import { simulator } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';

interface Installed {
  connection?: { status: string; consumer: { consumerRef: string } };
}

async function installationOf({ platform }: World, group: string): Promise<Installed | undefined> {
  return (await platform.call<Installed[]>('GET', `/projects/default/installations?groupRef=${group}`))
    .body[0];
}

/** A colleague's connection that stopped working may be replaced by anybody of the group; one that works may not. */
export const colleagueReconnects: Walk = async (world) => {
  const group = 'colleagues';
  const page = await connected(world, group);
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await page.close();
  const shown = await world.open({ group, consumer: 'bob' });
  await shown.getByText('Connected by ada').waitFor();
  expect(await button(shown, 'Reconnect').count()).toBe(0);
  // Uninstalling keeps a colleague's connection, and says so.
  await button(shown, 'Uninstall').click();
  await shown.getByText('The connection is that of ada, and stays').waitFor();
  await button(shown, 'Cancel').click();
  for (const action of ['revoke', 'expire'])
    await simulator(world.platform.hubspot, 'POST', '/tokens', { action });
  await shown.reload();
  // What shows the health of a connection asks when it is opened, and this page finds out that it is over.
  await button(shown, 'Reconnect').waitFor();
  const health = await world.open({ group, consumer: 'bob', show: 'ConnectionHealth' });
  await health.getByText('does not work any more').waitFor();
  await button(shown, 'Reconnect').click();
  await shown.getByText('Connected to HubSpot').waitFor();
  expect((await installationOf(world, group))?.connection).toMatchObject({
    status: 'working',
    consumer: { consumerRef: 'bob' },
  });
  await stepTo(shown, 'Contacts');
  await shown.getByRole('combobox', { name: 'Nickname' }).waitFor();
  await health.waitForTimeout(1_100);
  await health.evaluate(`dispatchEvent(new Event('focus')); undefined`);
  await health.getByText('The connection works.').waitFor();
};

/** Fields that could not be loaded are loaded again on request, and when the window gets the focus. */
export const fieldsAskedAgain: Walk = async (world) => {
  const page = await connected(world, 'asked-again');
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  // svc caches the fields, so the answer that it gives without the cache is made here.
  const down = (): Promise<unknown> =>
    page.route('**/*:hydrate*', async (route) => {
      const answer = await route.fetch();
      const json = (await answer.json()) as { content: Record<'read' | 'write', { objects: object[] }> };
      for (const object of [...json.content.read.objects, ...json.content.write.objects])
        Object.assign(object, { allFieldsMetadata: undefined, error: 'HubSpot answered 503' });
      await route.fulfill({ response: answer, json });
    });
  for (const mend of [
    () => button(page, 'Try again').click(),
    () => page.evaluate(`dispatchEvent(new Event('focus')); undefined`),
  ]) {
    await down();
    await page.reload();
    await page.getByText('could not be loaded').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.waitForTimeout(1_100);
    await mend();
    await page.getByText('could not be loaded').first().waitFor({ state: 'detached' });
    await stepTo(page, 'Contacts');
    await page.getByRole('combobox', { name: 'Nickname' }).waitFor();
    expect(await page.getByText('Existing records').count()).toBe(0);
  }
};

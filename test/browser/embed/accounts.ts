import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { connect, simulator } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';
import { installationOf } from './together.ts';

const signInAs = ({ platform }: World, account: string): Promise<unknown> =>
  simulator(platform.hubspot, 'POST', '/consent', { account });
const [usual, other, third] = ['244001', '77777777', '88888888'];

async function connectionsOf({ platform }: World, group: string): Promise<string[]> {
  const { body } = await platform.call<{ providerWorkspaceRef: string; consumer: { consumerRef: string } }[]>(
    'GET',
    `/projects/default/connections?groupRef=${group}`,
  );
  return body.map((one) => `${one.consumer.consumerRef} ${one.providerWorkspaceRef}`).toSorted();
}

const finish = async (page: Page): Promise<void> => {
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
};

/** Every step names the account; the customer may sign in to another one. */
export const anotherAccount =
  (mode: 'popup' | 'redirect'): Walk =>
  async (world) => {
    const group = `left-over-${mode}`;
    const leftOver = await connect(world.platform, 'hubspot', group);
    const page = await world.open({ group, mode });
    for (const step of ['Review', 'Data']) {
      await stepTo(page, step);
      await page.getByText(`Account ${usual}`).waitFor();
      await page.getByText(`Connected by ${group}-user`).waitFor();
    }
    await signInAs(world, other);
    await button(page, 'Use another account').click();
    await button(page, 'Connect HubSpot').click();
    await page.getByText(`Account ${other}`).waitFor();
    expect(await page.getByText(`Connected by ${group}-user`).count()).toBe(0);
    // An account that a colleague connects meanwhile is not used instead.
    await signInAs(world, third);
    await connect(world.platform, 'hubspot', group);
    await signInAs(world, usual);
    await page.waitForTimeout(1_100);
    const asked = page.waitForResponse((answer) => answer.url().includes('/connections?'));
    await page.evaluate(`dispatchEvent(new Event('focus')); undefined`);
    await asked;
    await stepTo(page, 'Contacts');
    await page.getByRole('combobox', { name: 'Nickname' }).fill('first');
    await page.getByRole('option', { name: 'First Name' }).click();
    await finish(page);
    expect(await connectionsOf(world, group)).toEqual([
      `ada ${other}`,
      `${group}-user ${usual}`,
      `${group}-user ${third}`,
    ]);
    const { connection } = await installationOf(world, group);
    expect(connection).toMatchObject({ providerWorkspaceRef: other });
    expect(connection.id).not.toBe(leftOver);
  };

/** A connection that is refused, because it is of another account, is deleted. */
export const refusedAccount: Walk = async (world) => {
  const group = 'refused-account';
  await finish(await connected(world, group));
  for (const action of ['revoke', 'expire'])
    await simulator(world.platform.hubspot, 'POST', '/tokens', { action });
  await signInAs(world, other);
  const pages: Record<string, string>[] = [
    { consumer: 'bob' },
    { consumer: 'bob', mode: 'redirect' },
    { mode: 'redirect' },
    {},
  ];
  for (const query of pages) {
    const page = await world.open({ group, ...query });
    await page.getByText('does not work any more').first().waitFor();
    await button(page, 'Reconnect').click();
    await page.getByText('You signed in to another account').waitFor();
    await expect.poll(() => connectionsOf(world, group)).toEqual([`ada ${usual}`]);
  }
  await signInAs(world, usual);
};

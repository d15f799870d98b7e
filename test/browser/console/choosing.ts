import { expect } from 'vitest';
import { barriers, enterAs, type Walk } from './world.ts';

/** Colours are chosen in the bar, survive a reload, and follow the system again. */
export const coloursChosen: Walk = async ({ open }) => {
  const page = await open('/projects/default/settings');
  await page.emulateMedia({ colorScheme: 'light' });
  const colour = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).color');
  const light = await colour();
  await page.getByRole('button', { name: 'Colours: As the system' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await expect.poll(colour).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Colours: Dark' }).click();
  expect(await colour()).not.toBe(light);
  await page.getByRole('menuitem', { name: 'As the system' }).click();
  await expect.poll(colour).toBe(light);
  await page.close();
};

/** An owner gives a member another role in the page, which holds at once. */
export const roleChanged: Walk = async (world) => {
  const email = 'changed@roles.example';
  const { context } = await enterAs(world, 'viewer', email);
  const page = await world.open('/projects/default/people');
  const row = page.getByRole('row').filter({ hasText: email });
  await row.getByRole('cell', { name: 'Viewer', exact: true }).waitFor();
  await row.getByRole('button', { name: `Actions of ${email}` }).click();
  await page.getByRole('menuitem', { name: 'Change the role …' }).click();
  const dialog = page.getByRole('dialog', { name: `The role of ${email}` });
  await dialog.getByRole('button', { name: 'Save' }).and(page.getByTitle('Choose another role')).waitFor();
  await dialog.getByRole('combobox').click();
  await page.getByRole('option', { name: 'Support' }).click();
  await dialog.getByText('Sees everything but secrets; retries, resolves, replays and pauses.').waitFor();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByRole('cell', { name: 'Support', exact: true }).waitFor();
  const asked = await context.request.get(`${world.platform.base}/v1/session`);
  const { projects } = (await asked.json()) as { projects: { role?: string; scopes: string[] }[] };
  expect(projects[0]?.scopes).toContain('remediate');
  await context.close();
  await page.close();
};

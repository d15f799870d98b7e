import { expect } from 'vitest';
import { effects } from '../../customer.ts';
import type { World } from '../world.ts';
import { button, heading, type Walk } from './steps.ts';

const integration = 'salesforce-crm';

/** The page is left for Salesforce and come back to; then the account is read and written to. */
export const salesforceInstalled =
  (react: 18 | 19): Walk =>
  async (world) => {
    const { platform } = world;
    const group = `react-${react}`;
    const page = await world.open(
      { group, integration, mode: 'redirect' },
      react === 18 ? world.appBefore : world.app,
    );
    expect(await page.locator('h1').textContent()).toMatch(new RegExp(`React ${react}\\.`));
    // Without My Domain the provider tells the account after the sign-in.
    if (react === 18) await page.getByLabel('My Domain (optional)').fill('acme');
    await button(page, 'Connect Salesforce').click();
    await heading(page, 'What should be shared?').waitFor();
    expect(new URL(page.url()).searchParams.has('connectionId')).toBe(false);
    await button(page, 'Continue').click();
    await page.getByRole('searchbox').fill('email');
    await page
      .getByRole('checkbox', { name: /^Email/ })
      .first()
      .check();
    await button(page, 'Continue').click();
    await button(page, 'Continue').click();
    await button(page, 'Finish setup').click();
    await heading(page, 'All set').waitFor();
    expect(await readAll(world, group)).toMatchObject({
      status: 'success',
      metadata: { read: { type: 'triggered' } },
    });
    const made = await platform.call(
      'POST',
      `/write/v1/projects/default/integrations/${integration}/objects/Contact`,
      { groupRef: group, type: 'create', record: { LastName: 'Lovelace' } },
    );
    expect(made.status).toBe(200);
    expect((await effects(platform.salesforce, 'Contact')).length).toBeGreaterThan(0);
  };

/** Reads all contacts of the group, and answers the operation at its end. */
async function readAll({ platform }: World, groupRef: string): Promise<object> {
  const path = `/read/v1/projects/default/integrations/${integration}/objects/Contact`;
  const begun = await platform.call<{ operationId: string }>('POST', path, { groupRef, mode: 'async' });
  const look = async () => {
    const at = `/projects/default/operations/${begun.body.operationId}`;
    return (await platform.call<ReadOperation>('GET', at)).body;
  };
  await expect.poll(async () => (await look()).status, { timeout: 15_000 }).not.toBe('in_progress');
  const ended = await look();
  // The simulated org begins with five contacts; other tests may have added some.
  expect(ended.metadata.progress.recordsProcessed).toBeGreaterThanOrEqual(5);
  return ended;
}

interface ReadOperation {
  status: string;
  metadata: { progress: { recordsProcessed: number } };
}

import { expect } from 'vitest';
import { deploy } from '../../customer.ts';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: scheduled
    displayName: Scheduled
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToDisplayName: Contacts
          destination: inbox
          schedule: '*/10 * * * *'
          requiredFields:
            - { mapToName: nickname, mapToDisplayName: Nickname }
          backfill: { defaultPeriod: { days: 0 } }
`;

/** The customer chooses how much of what they have is read at first, and it is read. */
export const historyChosen: Walk = async (world) => {
  const { platform } = world;
  await deploy(platform, manifest);
  const page = await connected(world, 'history', { integration: 'scheduled' });
  const history = page.getByLabel('Existing records');
  const proposed = 'Only what changes from now on (as Mailmonkey proposes)';
  expect(await history.locator('option:checked').textContent()).toBe(proposed);
  await stepTo(page, 'Review');
  await page.getByText('Existing records: Only what changes from now on').waitFor();
  await deploy(platform, manifest.replace('{ days: 0 }', '{ days: 30 }'));
  await page.waitForTimeout(1_100);
  await page.evaluate(`dispatchEvent(new Event('focus')); undefined`);
  await page.getByText('Existing records: The last 30 days').waitFor();
  await stepTo(page, 'Contacts');
  expect(await history.locator('option:checked').textContent()).toBe(
    'The last 30 days (as Mailmonkey proposes)',
  );
  await history.selectOption({ label: 'Everything' });
  await isAccessible(page);
  await stepTo(page, 'Review');
  await page.getByText('Existing records: Everything').waitFor();
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  const at = '/projects/default/integrations/scheduled/installations';
  const { body } = await platform.call<Installed[]>('GET', `${at}?groupRef=history`);
  expect(body[0]?.config.content.read.objects).toMatchObject({
    contacts: { backfill: { defaultPeriod: { fullHistory: true } } },
  });
  const progress = async () => {
    const path = `${at}/${body[0]?.id}/objects/contacts/backfill-progress`;
    return (await platform.call<{ status: string; recordsProcessed: number }>('GET', path)).body;
  };
  await expect.poll(progress, { timeout: 15_000 }).toMatchObject({ status: 'success' });
  // The simulated account begins with five contacts; other tests may have added some.
  expect((await progress()).recordsProcessed).toBeGreaterThanOrEqual(5);
};

interface Installed {
  id: string;
  config: { content: { read: { objects: Record<string, unknown> } } };
}

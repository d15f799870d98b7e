import { expect } from 'vitest';
import { deploy, install, manifest } from '../../customer.ts';
import { startReceiver } from '../../receiver.ts';
import { barriers, type ConsoleWorld } from './world.ts';

const integration = `  - name: hubspot-links
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: resting
          requiredFields: [{ fieldName: email }]
          backfill: { defaultPeriod: { fullHistory: true } }
`;

/** A read whose destination is disabled says so wherever it is shown, and in its log; once that is enabled, it goes on. */
export async function readWaits({ platform, open }: ConsoleWorld): Promise<void> {
  const receiver = await startReceiver();
  await platform.call('POST', '/projects/default/destinations', {
    name: 'resting',
    type: 'webhook',
    metadata: { url: receiver.url },
  });
  await platform.call('POST', '/projects/default/destinations/resting:disable');
  await deploy(platform, manifest + integration);
  const { installationId } = await install(platform, 'hubspot-links', 'patient', {
    read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
  });
  const page = await open('/projects/default/reads?groupRef=patient');
  await page.getByRole('row').getByText('Waits', { exact: true }).waitFor();
  await page.getByRole('row').getByRole('link').press('Enter');
  await page.waitForURL(`**/installations/${installationId}?tab=reads`);
  const read = page.getByRole('region', { name: 'contacts' });
  await read.getByText('Nothing is read for now.').waitFor();
  expect(await read.getByText('Running', { exact: true }).count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await read.getByRole('link', { name: 'History' }).click();
  await page.locator('.page-title').getByText('Waits', { exact: true }).waitFor();
  await page.getByText('Nothing is read for now.').waitFor();
  await page.getByRole('tab', { name: 'Log' }).click();
  const log = page.getByRole('table', { name: 'Log' });
  await log.getByText(/the destination resting is disabled .*; the read waits until there is one/).waitFor();
  await log.getByText('Warning', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'resting', exact: true }).click();
  await page.getByRole('heading', { name: 'resting', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.locator('.page-title').getByText('Active', { exact: true }).waitFor();
  await page.goBack();
  await page.locator('.page-title').getByText('Done', { exact: true }).waitFor({ timeout: 30_000 });
  expect(await page.getByText('Nothing is read for now.').count()).toBe(0);
  await page.close();
  await receiver.close();
  for (const path of ['integrations/hubspot-links', 'destinations/resting'])
    expect((await platform.call('DELETE', `/projects/default/${path}`)).status).toBe(204);
}

import { expect } from 'vitest';
import { fault, install } from '../../customer.ts';
import { barriers, type ConsoleWorld } from './world.ts';

const written = { write: { objects: { contacts: { objectName: 'contacts' } } } };

/** An operation tells that its installation is deleted, and that nothing can be written through it. */
export async function operationOutlives({ platform, open }: ConsoleWorld): Promise<void> {
  const gone = await install(platform, 'hubspot-crm', 'leavers', written);
  await fault(platform.hubspot, {
    path: '/contacts',
    fault: { kind: 'status', status: 400, body: { message: 'No.' } },
    times: 1,
  });
  const { body } = await gone.write('contacts', {
    type: 'create',
    record: { email: 'left@leavers.example' },
  });
  const at = `/projects/default/integrations/hubspot-crm/installations/${gone.installationId}`;
  await platform.call('DELETE', at);
  const page = await open(`/projects/default/operations/${body.operationId}`);
  await page.getByText('Its installation was deleted.').waitFor();
  await page.locator('dl > div').filter({ hasText: 'Installation' }).getByText('Deleted').waitFor();
  expect(await page.locator(`a[href*="${gone.installationId}"]`).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Retry' }).getAttribute('title')).toBe(
    'Its installation was deleted',
  );
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

/** The window that deletes an integration says how many installations go with it, and of whom. */
export async function lossCounted({ platform, open }: ConsoleWorld): Promise<void> {
  await install(platform, 'hubspot-crm', 'stayers', written);
  type Page = { results: { group: { groupName: string } }[] };
  const { body } = await platform.call<Page>(
    'GET',
    '/projects/default/integrations/hubspot-crm/installations?pageSize=200',
  );
  const page = await open('/projects/default/integrations/hubspot-crm');
  await page.getByRole('button', { name: 'Delete …' }).click();
  const dialog = page.getByRole('dialog');
  const counted =
    body.results.length === 1 ? '1 installation goes' : `${body.results.length} installations go`;
  await dialog.getByText(`${counted} with it`).waitFor();
  await dialog.getByText(body.results[0]?.group.groupName ?? '').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

/** A group that there is not is told before it is erased, and afterwards that there was nothing. */
export async function unknownGroupTold({ open }: ConsoleWorld): Promise<void> {
  const page = await open('/projects/default/storage');
  await page.getByRole('button', { name: 'Erase …' }).click();
  const dialog = page.getByRole('dialog');
  const [group, again] = [
    dialog.getByLabel('Reference of the group'),
    dialog.getByLabel(/^Type the reference/),
  ];
  const warned = dialog.getByText('No group has the reference');
  const type = async (groupRef: string): Promise<void> => {
    await group.fill(groupRef);
    await again.fill(groupRef);
  };
  await type('acmee');
  await warned.waitFor();
  expect(await barriers(page)).toEqual([]);
  const looked = page.waitForResponse((answer) => answer.url().endsWith('/search?q=acme'));
  await type('acme');
  await looked;
  await warned.waitFor({ state: 'detached' });
  await type('acmee');
  await warned.waitFor();
  await dialog.getByRole('button', { name: 'Erase it for good' }).click();
  await page.getByText('There was nothing to erase of acmee.').waitFor({ timeout: 30_000 });
  await page.close();
}

import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { install, type Customer } from '../../customer.ts';
import { barriers, type ConsoleWorld, type Walk } from './world.ts';

/** A customer whose contacts are read on demand and written. */
async function looked({ platform }: ConsoleWorld): Promise<Customer> {
  const customer = await install(platform, 'hubspot-crm', 'lookedat', {
    read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
    write: { objects: { contacts: { objectName: 'contacts' } } },
  });
  await customer.write('contacts', { type: 'create', record: { email: 'seen@lookedat.example' } });
  return customer;
}

/** A connection leads to its work and a read to its runs; the overview shows how many calls each provider still takes. */
export const workAndBudgetsShown: Walk = async (world) => {
  const { platform, open } = world;
  const { connectionId, installationId } = await looked(world);
  const page = await open(`/projects/default/connections/${connectionId}?tab=logs`);
  const row = page.getByRole('row').filter({ hasText: 'hubspot-crm' });
  await row.waitFor();
  expect(await barriers(page)).toEqual([]);
  for (const [link, leadsTo] of [
    ['Operations', `operations?installationId=${installationId}`],
    ['Failed operations', `operations?installationId=${installationId}&status=failure`],
    ['Proxied calls', `proxy-logs?installationId=${installationId}`],
    ['Deliveries', `deliveries?installationId=${installationId}`],
  ] as const) {
    await row.getByRole('link', { name: link, exact: true }).click();
    await page.waitForURL((url) => url.href.endsWith(leadsTo));
    await page.goBack();
  }
  await page.goto(`${platform.base}/projects/default/installations/${installationId}`);
  await page.getByRole('button', { name: 'Read now' }).click();
  await page.waitForURL('**/operations/*');
  const { pathname } = new URL(page.url());
  await page.goBack();
  await page.getByText('Latest runs', { exact: true }).click();
  const runs = page.getByRole('list', { name: 'Latest runs of contacts' });
  await runs.locator(`a[href="${pathname}"]`).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'All runs' }).click();
  await page.waitForURL(`**/operations?actionType=read&installationId=${installationId}&object=contacts`);
  await page.getByRole('row').filter({ hasText: 'Read contacts' }).waitFor();
  await page.goto(`${platform.base}/projects/default/overview`);
  const gauges = page.getByRole('list', { name: 'Rate budgets' });
  const budget = gauges.getByRole('listitem').filter({ hasText: 'lookedat' });
  await budget.getByRole('meter', { name: 'Calls left at hubspot for lookedat' }).waitFor();
  expect(await budget.innerText()).toMatch(/\d+ of 110 left/);
  expect(await barriers(page)).toEqual([]);
  await page.close();
};

/** The audit log is exported as a file: all of it, or the days that are chosen. */
export const auditExported: Walk = async ({ open, platform }) => {
  const page = await open('/projects/default/audit-log');
  const exported = async (name: string): Promise<string> => {
    const began = page.waitForEvent('download');
    await page.getByRole('link', { name }).click();
    return readFile(await (await began).path(), 'utf8');
  };
  const lines = (await exported('As JSON lines')).trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain('project.created');
  expect(await exported('Export as CSV')).toMatch(/^[a-zA-Z,."]+\r?\n/);
  await page.goto(`${platform.base}/projects/default/audit-log?to=2020-01-01T00:00:00.000Z`);
  expect(await exported('As JSON lines')).toBe('');
  await page.close();
};

import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import { barriers, first, type ConsoleWorld } from './world.ts';

/** What was asked to be written is shown record by record; all of unknown outcome are resolved by one answer, with who said it. */
export async function batchResolved({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  const names = ['North Ltd', 'East Ltd', 'South Ltd'];
  const { body } = await customer.write('companies', {
    type: 'create',
    batch: names.map((name) => ({ record: { name }, reference: `crm-${name}` })),
  });
  const page = await open(`/projects/default/operations/${body.operationId}?tab=records`);
  await page.getByRole('cell', { name: 'Unknown' }).nth(2).waitFor();
  await page.getByRole('button', { name: 'Record 1 (crm-East Ltd)' }).click();
  await page.getByRole('dialog').getByText('"name": "East Ltd"').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Resolve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Record 2 (crm-South Ltd): show what was asked' }).click();
  await dialog.getByText('"name": "South Ltd"').waitFor();
  await dialog.getByRole('combobox', { name: 'All 3 records' }).click();
  await page.getByRole('option', { name: /It is not there/ }).click();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.getByText('Resolved', { exact: true }).first().waitFor();
  await expect
    .poll(() =>
      page
        .getByRole('row')
        .filter({ hasText: `Resolved by ${first.name}` })
        .count(),
    )
    .toBe(3);
  expect(await page.getByRole('cell', { name: 'Not done' }).count()).toBe(3);
  await page.close();
}

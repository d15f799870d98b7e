import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import type { Walk } from './world.ts';

/** A request to a provider is copied as a command without its credential; so is the call that retries the operation. */
export const copiedAsCurl: Walk = async ({ platform, customer, open }) => {
  await fault(platform.hubspot, {
    path: '/companies',
    fault: { kind: 'status', status: 400, body: { message: 'Not this one.' } },
    times: 1,
  });
  const { body } = await customer.write('companies', { type: 'create', record: { name: "O'Neill & $HOME" } });
  const page = await open(`/projects/default/operations/${body.operationId}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');
  const catalogue = await platform.call<Record<string, { baseURL: string }>>('GET', '/providers');
  // The command lacks the provider's address until the page has loaded it.
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Copy as curl' }).click();
      return copied();
    })
    .toContain(
      `-X 'POST' '${catalogue.body['hubspot']?.baseURL}''/crm/v3/objects/companies' \\\n  -H 'Authorization: Bearer '"$TOKEN" \\\n`,
    );
  // Without these headers curl would send others of its own.
  expect(await copied()).toContain(
    `-H 'accept: application/json' \\\n  -H 'content-type: application/json' \\\n`,
  );
  expect(await copied()).not.toContain('Content-Type:');
  expect(await copied()).toContain(String.raw`"O'\''Neill & $HOME"`);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Retry as curl' }).click();
  await expect.poll(copied).toContain(`operations/${body.operationId}:retry' \\\n  -H 'X-Api-Key: '"$TOKEN"`);
  await page.close();
};

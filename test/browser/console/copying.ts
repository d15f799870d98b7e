import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import type { Walk } from './world.ts';

/** What was sent to a provider is copied as a command, without the credential; so is the way to retry it. */
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
  // The address of the provider is known by then.
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Copy as curl' }).click();
      return copied();
    })
    .toContain(
      `-X 'POST' '${catalogue.body['hubspot']?.baseURL}''/crm/v3/objects/companies' \\\n  -H 'Authorization: Bearer '"$TOKEN" \\\n`,
    );
  // As it was sent: without them curl says that the body is a form, and that it takes anything.
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

import type { Page } from 'playwright-core';
import type { ConsoleWorld } from './world.ts';

const list = '/projects/default/operations';
const rowOf = (page: Page, operation: string) => page.locator(`a[href$="${operation}"]`).first();

/** Answers that are slower than changes follow one another are shown all the same. */
export async function slowWhileBusy({ customer, open }: ConsoleWorld): Promise<void> {
  const page = await open(list);
  await page.getByRole('row').nth(1).waitFor();
  await page.route('**/v1/projects/default/operations?*', async (route) => {
    await page.waitForTimeout(2_500);
    await route.continue();
  });
  const write = async (): Promise<string> =>
    (await customer.write('contacts', { type: 'create', record: { email: `${Date.now()}@busy.example` } }))
      .body.operationId;
  const first = await write();
  const shown = rowOf(page, first)
    .waitFor()
    .then(() => true);
  while (!(await Promise.race([shown, page.waitForTimeout(300).then(() => false)]))) await write();
  // An answer that is still held back would wait on a page that is gone.
  await page.unrouteAll({ behavior: 'wait' });
  await page.close();
}

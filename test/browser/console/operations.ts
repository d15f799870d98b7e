import type { Page, Route } from 'playwright-core';
import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import { barriers, first, type ConsoleWorld } from './world.ts';

/** A write appears while somebody looks at the list; the page of it says what was sent and answered. */
export async function writeSeenLive({ customer, open }: ConsoleWorld): Promise<void> {
  const page = await open('/projects/default/operations');
  await page.getByRole('heading', { name: 'Nothing was written or read yet' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  // Time for the stream to open.
  await page.waitForTimeout(500);
  await customer.write('contacts', { type: 'create', record: { email: 'live@acme.example' } });
  const row = page.getByRole('row').filter({ hasText: 'Write contacts' });
  await row.getByText('Done', { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await row.getByRole('link').press('Enter');
  await page.getByRole('heading', { name: 'Write contacts', level: 1 }).waitFor();
  await page.getByText('POST /crm/v3/objects/contacts').click();
  await page.getByText('"email": "live@acme.example"').first().waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.close();
}

/** A write that nobody told the page of is shown: before its stream is open, and before a list that is answered late. */
export async function writeBeforeStream({ customer, open }: ConsoleWorld): Promise<void> {
  const list = '/projects/default/operations';
  const write = async (email: string): Promise<string> =>
    (await customer.write('contacts', { type: 'create', record: { email } })).body.operationId;
  const shown = async (
    path: string,
    before: (page: Page, route: Route) => Promise<string>,
  ): Promise<void> => {
    const page = await open('/no/such/page');
    const written = new Promise<string>((resolve, reject) => {
      void page.route(path, (route) => before(page, route).then(resolve, reject), { times: 1 });
    });
    await page.goto(new URL(list, page.url()).href);
    await page
      .locator(`a[href$="${await written}"]`)
      .first()
      .waitFor();
    await page.close();
  };
  await shown('**/stream', async (page, route) => {
    await page.getByRole('row').nth(1).waitFor();
    const operation = await write('unheard@acme.example');
    await route.continue();
    return operation;
  });
  await shown('**/v1/projects/default/operations?*', async (page, route) => {
    const older = await route.fetch();
    const operation = await write('unread@acme.example');
    // The page hears of the write meanwhile.
    await page.waitForTimeout(2500);
    await route.fulfill({ response: older });
    return operation;
  });
}

/** Eight pages, more than a browser's connections to one server, hear of a write by one stream, also after its page is closed. */
export async function manyPagesOneStream({ customer, open }: ConsoleWorld): Promise<void> {
  const streams: string[] = [];
  const pages: Page[] = [];
  for (let count = 0; count < 8; count += 1) {
    const page = await open('/no/such/page');
    page.on('request', (request) => {
      if (request.url().endsWith('/stream')) streams.push(`page ${count}`);
    });
    await page.goto(new URL('/projects/default/operations', page.url()).href);
    await page.getByRole('row').nth(1).waitFor();
    pages.push(page);
  }
  const seenByAll = async (email: string): Promise<void> => {
    const { body } = await customer.write('contacts', { type: 'create', record: { email } });
    for (const page of pages) await page.locator(`a[href$="${body.operationId}"]`).first().waitFor();
  };
  await seenByAll('many@acme.example');
  expect(streams).toEqual(['page 0']);
  await pages.shift()?.close();
  await expect.poll(() => streams.length).toBe(2);
  await seenByAll('fewer@acme.example');
  expect(streams).toEqual(['page 0', 'page 1']);
  await Promise.all(pages.map((page) => page.close()));
}

/** A failed write is understood by what the provider answered, and retried; both operations know of each other. */
export async function failedOneRetried({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, {
    path: '/companies',
    fault: { kind: 'status', status: 400, body: { status: 'error', message: 'The name is taken.' } },
    times: 1,
  });
  const { body } = await customer.write('companies', { type: 'create', record: { name: 'Failing Ltd' } });
  const page = await open('/projects/default/operations?status=failure&object=companies');
  await page.getByRole('row').filter({ hasText: 'Write companies' }).getByRole('link').click();
  await page.waitForURL(`**/operations/${body.operationId}`);
  await page.getByText('"message": "The name is taken."').waitFor();
  await page.getByRole('tab', { name: /Records/ }).click();
  await page.getByRole('cell', { name: 'Not done' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(body.operationId));
  await page.getByText('Done', { exact: true }).waitFor();
  await page.getByRole('link', { name: body.operationId }).waitFor();
  await page.close();
}

/** A write that was never answered is resolved by somebody who looked at the provider. */
export async function unknownResolved({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  const { body } = await customer.write('companies', { type: 'create', record: { name: 'Unknown Ltd' } });
  const page = await open(`/projects/default/operations/${body.operationId}`);
  await page.getByText('Unknown outcome', { exact: true }).waitFor();
  // It cannot be retried before, and says why.
  expect(await page.getByRole('button', { name: 'Retry' }).getAttribute('title')).toMatch(/Resolve/);
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByRole('combobox').click();
  await page.getByRole('option', { name: /It is there/ }).click();
  await page.getByLabel(/Its id/).fill('4711');
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('Resolved', { exact: true }).first().waitFor();
  await page.getByRole('tab', { name: /Records/ }).click();
  await page.getByRole('cell', { name: '4711' }).waitFor();
  await page.close();
}

/** A retry of many operations says how many there are before it begins. */
export async function manyRetried({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, {
    path: '/contacts',
    fault: { kind: 'status', status: 400, body: { message: 'Not now.' } },
    times: 3,
  });
  for (const name of ['a', 'b', 'c'])
    await customer.write('contacts', { type: 'create', record: { email: `${name}@many.example` } });
  const page = await open('/projects/default/operations?status=failure&object=contacts');
  await page.getByRole('button', { name: /all of these/i }).click();
  await page.getByRole('menuitem', { name: 'Retry what failed' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 match.').waitFor();
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Retry 3' }).click();
  await page.getByText('3 retried').waitFor();
  await page.close();
}

/** An unknown id and a thing of another project are not found, without a hint which it is. */
export async function othersNotFound({ platform, open }: ConsoleWorld): Promise<void> {
  await platform.call('POST', '/projects', { name: 'rival' });
  for (const path of [
    '/projects/default/operations/01920000-0000-7000-8000-000000000000',
    '/projects/rival/operations',
    '/projects/nobody/operations',
    '/no/such/page',
  ]) {
    const page = await open(path);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    expect(await page.getByRole('main').last().textContent()).not.toContain('rival');
    expect(await barriers(page)).toEqual([]);
    await page.close();
  }
}

/** The overview counts unknown outcomes and leads to them; Ctrl+K leads to a group. */
export async function attentionAndSearch({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  await customer.write('companies', { type: 'create', record: { name: 'Needs Ltd' } });
  const page = await open('/projects/default/overview');
  const needs = page.getByRole('listitem').filter({ hasText: 'Unknown outcomes' });
  // Those that other walks resolved by hand stay among them.
  await needs.getByText(/^[1-9]\d*$/).waitFor();
  await page.locator('canvas').first().waitFor();
  expect(await barriers(page)).toEqual([]);
  await needs.getByRole('link').click();
  await page.waitForURL('**/operations?**');
  await page.getByRole('row').filter({ hasText: 'Unknown outcome' }).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'What to look for' }).fill('acme');
  await page.getByRole('option').first().waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/operations?groupRef=acme');
  await page.close();
}

/** In a browser that names a language which `Intl` refuses, the charts are drawn and numbers shown. */
export async function inARefusedLanguage({ open, stranger, platform }: ConsoleWorld): Promise<void> {
  const context = await stranger();
  await context.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' }),
  );
  const page = await open('/sign-in?returnTo=%2Fprojects%2Fdefault%2Foverview', context);
  expect(await page.evaluate(() => navigator.language)).not.toBe('en-US@posix');
  await page.getByLabel('E-mail').fill(first.email);
  await page.getByLabel('Password').fill(first.password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${platform.base}/projects/default/overview`);
  await page.locator('.uplot canvas').first().waitFor();
  await context.close();
}

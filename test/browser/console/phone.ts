import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { fault } from '../../customer.ts';
import type { ConsoleWorld } from './world.ts';

const width = 360;

/** What matters most of each list: the state of a row, or what was done. */
const lists: readonly [path: string, what: string][] = [
  ...[
    'operations',
    'reads',
    'deliveries',
    'connections',
    'installations',
    'destinations',
    'events',
    'keys',
  ].map((path) => [path, '.badge'] as [string, string]),
  ['audit-log', 'td:has(.row-link)'],
];

/** How far it ends beyond the screen, of the first row. */
async function beyond(page: Page, what: string): Promise<number> {
  const row = page.locator('.table tbody tr').first();
  const { x, width: own } = (await row.locator(what).first().boundingBox()) ?? { x: width, width: 1 };
  return Math.max(0, x + own - width);
}

/** On a phone the state of a row is in sight before anybody scrolls aside. */
export async function statesInSight({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
  const batch = [{ record: { name: 'Small Ltd' }, reference: 'a-reference-of-some-length-1' }];
  const { body } = await customer.write('companies', { type: 'create', batch });
  const page = await open('/projects/default/operations');
  await page.setViewportSize({ width, height: 740 });
  const records = [`operations/${body.operationId}?tab=records`, '.badge'] as const;
  for (const [path, what] of [...lists, records]) {
    await page.goto(`${platform.base}/projects/default/${path}`);
    expect([path, await beyond(page, what)]).toEqual([path, 0]);
  }
  await page.close();
}

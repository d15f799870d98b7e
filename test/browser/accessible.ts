import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** The serious and critical violations that axe finds, each with its elements. */
export async function barriersOf(page: Page): Promise<[rule: string, where: string[]][]> {
  await page.evaluate(await readFile(axePath, 'utf8'));
  const found = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build, preview } from 'vite';
import { galleryConfig } from '../../scripts/gallery-config.ts';

/** How a state is shown, as the address of the page says it. */
export type Look = Readonly<Partial<Record<'theme' | 'density' | 'direction' | 'language', string>>>;

/** The page of all states, built and served. */
export interface Gallery {
  names(page: Page): Promise<string[]>;
  /** Shows a state by itself; throws when the state is not there. */
  show(page: Page, name: string, look?: Look): Promise<void>;
  close(): Promise<void>;
}

export async function startGallery(mode = 'production'): Promise<Gallery> {
  const outDir = await mkdtemp(join(tmpdir(), 'svc-gallery-'));
  const define = { 'process.env.NODE_ENV': JSON.stringify(mode) };
  await build({ ...galleryConfig, define, build: { outDir, minify: false, modulePreload: false } });
  const server = await preview({
    ...galleryConfig,
    build: { outDir },
    preview: { host: '127.0.0.1', port: 0 },
  });
  const base = server.resolvedUrls?.local[0] ?? '';
  return {
    async names(page) {
      await page.goto(base);
      const buttons = page.getByRole('navigation', { name: 'States' }).getByRole('button');
      await buttons.first().waitFor();
      return buttons.allTextContents();
    },
    async show(page, name, look = {}) {
      await page.goto(`${base}?${new URLSearchParams({ bare: '', state: name, ...look }).toString()}`);
      await page.locator('html[data-shown]').waitFor();
      const wrong = page.locator('.stage > div > p[role="alert"]');
      if (await wrong.count()) throw new Error(`${name}: ${await wrong.textContent()}`);
    },
    async close() {
      await server.close();
      await rm(outDir, { recursive: true, force: true });
    },
  };
}

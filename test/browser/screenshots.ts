/** `npm run screenshots -- [folder] [words]`: a picture of each state, in light and dark, wide and narrow, and from right to left. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launchBrowser } from './browser.ts';
import { startGallery } from './gallery.ts';

const [folder = 'screenshots', sought = ''] = process.argv.slice(2);
const looks = {
  'wide-light': { theme: 'light', width: 1_000, direction: 'ltr', language: 'en' },
  'wide-dark': { theme: 'dark', width: 1_000, direction: 'ltr', language: 'en' },
  'narrow-light': { theme: 'light', width: 390, direction: 'ltr', language: 'de' },
  'narrow-dark-rtl': { theme: 'dark', width: 390, direction: 'rtl', language: 'en' },
} as const;

await mkdir(folder, { recursive: true });
const gallery = await startGallery();
const browser = await launchBrowser();
try {
  const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
  const names = await gallery.names(page);
  for (const name of names.filter((one) => one.includes(sought)))
    for (const [look, { width, ...shown }] of Object.entries(looks)) {
      await page.setViewportSize({ width, height: 700 });
      await gallery.show(page, name, shown);
      const file = `${name.replaceAll(/[^\w]+/g, '-').toLowerCase()}-${look}.png`;
      await page.screenshot({ path: join(folder, file), fullPage: true });
    }
} finally {
  await browser.close();
  await gallery.close();
}

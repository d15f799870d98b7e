/** `npm run screenshots:console -- [folder] [words]`: a picture of each page of the console, in light and dark, wide and narrow. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { everyPage } from './console/every-page.ts';
import { startConsole } from './console/world.ts';

const [folder = 'screenshots', sought = ''] = process.argv.slice(2);
const looks = [
  ['wide-light', 'light', 1_280],
  ['wide-dark', 'dark', 1_280],
  ['narrow-light', 'light', 390],
  ['narrow-dark', 'dark', 390],
] as const;

await mkdir(folder, { recursive: true });
const world = await startConsole();
try {
  const record = { email: 'shown@acme.example' };
  await world.customer.write('contacts', { type: 'create', record });
  await world.customer.write('contacts', { type: 'create', record: { no_such_field: 1 } });
  const page = await world.open('/projects');
  for (const path of (await everyPage(world)).filter((one) => one.includes(sought))) {
    await page.goto(world.platform.base + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    const name = path.replace('/projects/default', '').replace(/\/[0-9a-f-]{36}/, '-detail');
    for (const [look, colorScheme, width] of looks) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      // The charts are drawn again for the new size.
      await page.waitForTimeout(100);
      const file = `console-${name.replaceAll(/[^\w]+/g, '-').replace(/^-/, '')}-${look}.png`;
      await page.screenshot({ path: join(folder, file), fullPage: true });
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (overflow > width) process.stderr.write(`${file}: is ${overflow} wide\n`);
    }
  }
  for (const fault of world.faults) process.stderr.write(`${fault}\n`);
} finally {
  await world.close();
}

/**
 * Builds the pages that the platform serves: that of connect links (`connect`), the console (`console`), or, where none is named, both.
 * With `--missing` only what was never built, and without the packages for development nothing.
 */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { build as Build } from 'vite';

const root = join(import.meta.dirname, '..');
const pages: Record<string, { root: string; base: string; folder: string }> = {
  connect: { root: 'ui/embed/src/hosted', base: '/connect/', folder: 'ui/embed/dist/page' },
  console: { root: 'ui/console/src', base: '/', folder: 'ui/console/dist' },
};

const { values, positionals } = parseArgs({
  options: { missing: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const asked = positionals.length > 0 ? positionals : Object.keys(pages);
const isMissing = (name: string): boolean => !existsSync(join(root, pages[name]?.folder ?? '', 'index.html'));
const wanted = values.missing ? asked.filter(isMissing) : asked;
if (wanted.length > 0) await buildPages(wanted);

async function buildPages(names: readonly string[]): Promise<void> {
  const vite = await import('vite').catch((error: unknown) => {
    if (!values.missing) throw error;
    console.log(`not built, since Vite is not installed: ${names.join(', ')} (npm run build:pages)`);
  });
  if (!vite) return;
  if (values.missing) console.log(`building for the browser, once: ${names.join(', ')} …`);
  for (const name of names) await buildPage(vite.build, name);
}

async function buildPage(build: typeof Build, name: string): Promise<void> {
  const page = pages[name];
  if (!page) throw new Error(`there is no page ${name}; there are ${Object.keys(pages).join(', ')}`);
  const folder = join(root, page.folder);
  const made = `${folder}.${process.pid}`;
  await build({
    root: join(root, page.root),
    configFile: false,
    logLevel: 'error',
    base: page.base,
    define: { 'process.env.NODE_ENV': '"production"' },
    esbuild: { jsx: 'automatic', jsxDev: false },
    resolve: { alias: { '@svc/client': join(root, 'ui/client/src/index.ts') } },
    build: { outDir: made, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: false },
  });
  // Whole at once: two processes may build it at the same time, and who found it missing leaves that of the other.
  if (!values.missing || isMissing(name)) await rm(folder, { recursive: true, force: true });
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
}

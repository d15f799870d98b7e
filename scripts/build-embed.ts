/**
 * Builds what browsers take of `ui/embed`: the page of connect links (`page`), the package as it is published (`package`), or, without
 * an argument, both.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');
const embed = join(root, 'ui/embed');
const [only] = process.argv.slice(2);

if (only !== 'package') await buildPage();
if (only !== 'page') buildPackage();

async function buildPage(): Promise<void> {
  await build({
    root: join(embed, 'src/hosted'),
    configFile: false,
    logLevel: 'error',
    base: '/connect/',
    define: { 'process.env.NODE_ENV': '"production"' },
    esbuild: { jsx: 'automatic', jsxDev: false },
    resolve: { alias: { '@svc/client': join(root, 'ui/client/src/index.ts') } },
    build: {
      outDir: join(embed, 'dist/page'),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: false,
    },
  });
}

function buildPackage(): void {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'ui/client/tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  rmSync(join(embed, 'dist/src'), { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', 'ui/embed/tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  copyFileSync(join(embed, 'src/styles.css'), join(embed, 'dist/src/styles.css'));
}

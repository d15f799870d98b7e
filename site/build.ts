/** `npm run docs:build`: the pages of docs/ as a site in dist/docs, which the platform serves at /docs. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installSubPackage } from '../scripts/sub-package.ts';
import { policyOf } from '../src/docs-policy.ts';

const out = join(import.meta.dirname, '../dist/docs');

/** Why a browser would not show this page whole under the policy that it is served with. */
function refusedIn(page: string, policy: string): string[] {
  return [
    ...(policyOf(page) === policy ? [] : ['it has other inline scripts than the first page']),
    ...(/<style|\sstyle=|\son[a-z]+="/i.test(page.replaceAll(/<pre[^]*?<\/pre>/g, ''))
      ? ['it has an inline style or handler']
      : []),
  ];
}

installSubPackage(import.meta.dirname);
const vitepress = join(import.meta.dirname, 'node_modules/vitepress/bin/vitepress.js');
const { status } = spawnSync(process.execPath, [vitepress, 'build', import.meta.dirname], {
  stdio: 'inherit',
});
const policy = status === 0 ? policyOf(readFileSync(join(out, 'index.html'), 'utf8')) : '';
const faults = globSync('**/*.html', { cwd: out }).flatMap((path) =>
  refusedIn(readFileSync(join(out, path), 'utf8'), policy).map((fault) => `${path}: ${fault}`),
);
for (const fault of faults) console.error(fault);
process.exitCode = status === 0 && faults.length === 0 ? 0 : 1;

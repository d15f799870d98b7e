import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Installs a package below this one that few commands need, unless it is installed as its lock file says. Throws when it cannot. */
export function installSubPackage(folder: string): void {
  const changedAt = (path: string): number =>
    statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  const command = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', relative(root, folder)];
  console.error(`installing ${relative(root, folder)}: npm ${command.join(' ')}`);
  const { status } = spawnSync('npm', command, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`it could not be installed: npm ${command.join(' ')}`);
}

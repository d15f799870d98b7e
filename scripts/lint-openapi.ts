/** `npm run lint:openapi`: openapi.json against the recommended rules of two linters, which have a package of their own. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installSubPackage } from './sub-package.ts';

const folder = join(import.meta.dirname, '../test/openapi');
const document = join(import.meta.dirname, '../openapi.json');

function run(command: string, args: string[]): boolean {
  return spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status === 0;
}

installSubPackage(folder);
const linters = [
  ['redocly', 'lint', document, '--max-problems', '1000'],
  ['spectral', 'lint', document, '--fail-severity', 'warn'],
] as const;
const failed = linters.filter(([name, ...args]) => !run(join(folder, 'node_modules/.bin', name), args));
process.exitCode = failed.length === 0 ? 0 : 1;

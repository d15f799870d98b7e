/** `npm run lint:openapi`: openapi.json against the recommended rules of two linters, which have a package of their own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../test/openapi');
const document = join(import.meta.dirname, '../openapi.json');

function run(command: string, args: string[]): boolean {
  return spawnSync(command, args, { cwd: folder, stdio: 'inherit' }).status === 0;
}

if (!existsSync(join(folder, 'node_modules'))) {
  console.log('installing test/openapi (npm ci --prefix test/openapi)');
  if (!run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']))
    throw new Error('test/openapi could not be installed: npm ci --prefix test/openapi');
}
const linters = [
  ['redocly', 'lint', document, '--max-problems', '1000'],
  ['spectral', 'lint', document, '--fail-severity', 'warn'],
] as const;
const failed = linters.filter(([name, ...args]) => !run(join(folder, 'node_modules/.bin', name), args));
process.exitCode = failed.length === 0 ? 0 : 1;

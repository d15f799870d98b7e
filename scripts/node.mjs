// Runs a file with Node 24: the pinned one of node_modules, else this one if it is new enough. Plain JavaScript, because
// an older Node must be able to read it.
import { spawn } from 'node:child_process';
import * as nodeModule from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const minimum = [22, 19];
const [file, ...args] = process.argv.slice(2);
const bin = join(
  import.meta.dirname ?? process.cwd(),
  '..',
  'node_modules',
  '.bin',
  process.platform === 'win32' ? 'node.cmd' : 'node',
);

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

// npm puts node_modules/.bin first on the path, so this process is the pinned Node already when it is installed.
if (isNewEnough(process.versions.node)) {
  nodeModule.enableCompileCache?.();
  process.argv.splice(1, 2, file);
  await import(new URL(`file://${join(process.cwd(), file)}`).href);
} else if (existsSync(bin)) {
  const child = spawn(bin, [import.meta.filename, file, ...args], { stdio: 'inherit' });
  child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
} else {
  console.error(
    `svc needs Node ${minimum.join('.')} or later; this is ${process.versions.node}, and no pinned Node fits ${process.platform}-${process.arch}. ` +
      'Install Node 24 from https://nodejs.org and run the command again.',
  );
  process.exit(1);
}

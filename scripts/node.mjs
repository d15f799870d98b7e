// Runs a file with Node 24: the pinned one of node_modules, else this one if it is new enough. Plain JavaScript, because
// an older Node must be able to read it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const minimum = [22, 19];
const [file, ...args] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);
const root = join(dirname(self), '..');
const modules = join(root, 'node_modules');
const { platform, arch } = process;

// Not every npm links the `node` of these packages into .bin, since each platform's declares it.
const pinned = [
  `node-${platform}-${arch}`,
  `node-bin-${platform}-${arch}`,
  `node-${platform.slice(0, 3)}-${arch}`,
]
  .map((name) => join(modules, name, 'bin', platform === 'win32' ? 'node.exe' : 'node'))
  .find((path) => existsSync(path));

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

// npm ends at SIGTERM and tells nobody: the process below would go on without it.
if (process.env.npm_lifecycle_event !== undefined && platform !== 'win32') {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250);
  watch.unref();
}

// Only a checkout has a lock file: what npm installed has its packages elsewhere.
if (existsSync(join(root, 'package-lock.json')) && !existsSync(modules)) {
  console.error(`The packages of svc are not installed. Run "npm ci" in ${root}, and the command again.`);
  process.exit(1);
} else if (isNewEnough(process.versions.node)) {
  nodeModule.enableCompileCache?.();
  // Half of these threads look names up (src/kit/http/lookups.ts). An older Node has begun its threads by now, and takes the variable from outside only.
  if (Number(process.versions.node.split('.')[0]) >= 24) process.env.UV_THREADPOOL_SIZE ??= '16';
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(resolve(file)).href);
} else if (pinned) {
  const PATH = [dirname(pinned), process.env.PATH].join(delimiter);
  const child = spawn(pinned, [self, file, ...args], { stdio: 'inherit', env: { ...process.env, PATH } });
  // Whoever signals only this process means the child. A terminal signals both: a child that ends by its own Ctrl+C is left to it.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => setTimeout(() => child.kill('SIGINT'), 250));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
} else {
  console.error(
    `svc needs Node ${minimum.join('.')} or later; this is ${process.versions.node}, and no pinned Node fits ${platform}-${arch}. ` +
      'Install Node 24 from https://nodejs.org and run the command again.',
  );
  process.exit(1);
}

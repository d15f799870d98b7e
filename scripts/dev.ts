import { spawn, type ChildProcess } from 'node:child_process';

/** Runs the simulators on their ports and the platform pointed at them, until one of them ends or Ctrl+C. */
const origins = { hubspot: '127.0.0.1:4010', salesforce: '127.0.0.1:4011' };

const environment = {
  SVC_PROVIDER_ORIGINS: Object.entries(origins)
    .map(([name, host]) => `${name}=http://${host}`)
    .join(','),
  SVC_EGRESS_ALLOW: Object.values(origins).join(','),
  ...process.env,
};

const children: ChildProcess[] = [];
let isEnding = false;

function run(file: string): void {
  const child = spawn(process.execPath, [file], { stdio: 'inherit', env: environment });
  children.push(child);
  child.once('exit', (code) => end(code ?? 0));
}

/** The others end with the first. */
function end(code: number): void {
  if (isEnding) return;
  isEnding = true;
  process.exitCode = code;
  for (const child of children) child.kill('SIGTERM');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(0));
run('simulator/main.ts');
run('src/main.ts');

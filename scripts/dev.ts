import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { readSwitches } from './options.ts';
import { simulated } from './simulated.ts';

const usage = `npm run dev

Runs the simulated HubSpot (port 4010), the simulated Salesforce (port 4011) and the platform pointed at them, until Ctrl+C.
The platform takes its settings from the environment, such as SVC_PORT=5000 SVC_PROXY_PORT=5001 npm run dev
(docs/configuration.md); what SVC_EGRESS_ALLOW and SVC_PROVIDER_ORIGINS name is added to the simulators.

  --help   this text`;

readSwitches(usage, []);

const hosts = { hubspot: '127.0.0.1:4010', salesforce: '127.0.0.1:4011' };
const origins = Object.fromEntries(Object.entries(hosts).map(([name, host]) => [name, `http://${host}`]));
const environment = { ...process.env, ...simulated(origins, Object.values(hosts).join(',')) };

const children: ChildProcess[] = [];
let isEnding = false;

function run(file: string, ...args: string[]): void {
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit', env: environment });
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

// A terminal signals the children, too; they take both signals as one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(0));
// What was connected stays connected, as the platform keeps it.
run('simulator/main.ts', '--keep', join(process.env['SVC_DATA_DIR'] || '.svc', 'simulators'));
run('src/main.ts');

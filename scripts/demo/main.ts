/** `npm run demo`: the platform and the simulated providers, and the main job done before your eyes. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readSwitches } from '../options.ts';
import { createApi } from './api.ts';
import { startStage, type Stage } from './processes.ts';
import { curls, runSteps } from './steps.ts';

const usage = `npm run demo -- [--exit]

Starts the platform and the simulated providers, does the main job before your eyes and leaves all of it running until Ctrl+C.
Its data is kept in SVC_DATA_DIR (.svc/demo); SVC_PORT and SVC_PROXY_PORT choose its ports, DATABASE_URL with SVC_ENCRYPTION_KEYS
another database. SVC_EGRESS_ALLOW and SVC_PROVIDER_ORIGINS are added to what it needs. Its platform gets no other variable of svc, known or not.

  --exit   leave when it is done
  --help   this text`;

const leaves = readSwitches(usage, ['exit']).has('exit');
const dataDir = resolve(process.env['SVC_DATA_DIR'] ?? '.svc/demo');
const startedAt = performance.now();
let running: Stage | undefined;
let isStopping = false;

function say(line: string): void {
  console.log(line);
}

// A closed pipe (`npm run demo | head`) ends the demo.
process.stdout.on('error', () => process.exit(1));

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(2)} s`.padStart(8);
}

async function step<Result>(name: string, work: () => Promise<[Result, string]>): Promise<Result> {
  const since = performance.now();
  try {
    const [result, made] = await work();
    say(`  ✓ ${seconds(since)}  ${name.padEnd(44)} ${made}`);
    return result;
  } catch (error) {
    if (!isStopping) say(`  ✗ ${seconds(since)}  ${name}\n\n    ${(error as Error).message}\n`);
    throw error;
  }
}

async function play(): Promise<Stage> {
  const stage = await step('start platform, database and simulators', async () => {
    const started = await startStage(dataDir);
    running = started;
    return [started, `${started.base}, proxy ${started.proxy}`];
  });
  try {
    const apiKey = (await readFile(join(dataDir, 'first-api-key'), 'utf8')).trim();
    const made = await runSteps(step, createApi(stage.base, apiKey), stage, apiKey);
    say(
      `\nDone in ${seconds(startedAt).trim()}. The same by hand${leaves ? ', while `npm run demo` runs' : ''}:\n\n${curls(stage, apiKey, made)}\n`,
    );
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

/** A Ctrl+C may come more than once, and before there is a stage: the platform ends with this process then. */
function stop(): void {
  if (isStopping) return;
  isStopping = true;
  void (running?.close() ?? Promise.resolve()).then(() => process.exit(0));
}

process.on('SIGINT', stop);
process.on('SIGTERM', stop);
say(
  '\nsvc: write, look up, read and proxy, for one customer with a HubSpot and a Salesforce account (both simulated here)\n',
);
try {
  const stage = await play();
  if (leaves) {
    await stage.close();
  } else {
    say(`API reference: ${stage.base}/docs/api   Stop with Ctrl+C.`);
    const code = await stage.ended;
    if (!isStopping) say(`The platform ended${code === null ? '' : ` with code ${code}`}.`);
  }
} catch (error) {
  process.exitCode = 1;
  if (process.env['DEBUG']) console.error(error);
}

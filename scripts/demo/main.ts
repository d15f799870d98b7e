/** `npm run demo`: the platform and the simulated providers, and the main job done before your eyes. `--exit` leaves when it is done. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createApi } from './api.ts';
import { startStage, type Stage } from './processes.ts';
import { curls, runSteps } from './steps.ts';

const dataDir = resolve(process.env['SVC_DATA_DIR'] ?? '.svc/demo');
const leaves = process.argv.includes('--exit');
const startedAt = performance.now();

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
    say(`  ✗ ${seconds(since)}  ${name}\n\n    ${(error as Error).message}\n`);
    throw error;
  }
}

async function play(): Promise<Stage> {
  const stage = await step('start platform, database and simulators', async () => {
    const started = await startStage(dataDir);
    return [started, `${started.base}, proxy ${started.proxy}`];
  });
  try {
    const apiKey =
      process.env['SVC_BOOTSTRAP_API_KEY'] ?? (await readFile(join(dataDir, 'first-api-key'), 'utf8')).trim();
    const made = await runSteps(step, createApi(stage.base, apiKey), stage, apiKey);
    say(`\nDone in ${seconds(startedAt).trim()}. The same by hand:\n\n${curls(stage, apiKey, made)}\n`);
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

say(
  '\nsvc: write, look up, read and proxy, for one customer with a HubSpot and a Salesforce account (both simulated here)\n',
);
try {
  const stage = await play();
  if (leaves) {
    await stage.close();
  } else {
    say(`API reference: ${stage.base}/docs   Stop with Ctrl+C.`);
    const stop = (): void => void stage.close().then(() => process.exit(0));
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    const code = await stage.ended;
    say(`The platform ended${code === null ? '' : ` with code ${code}`}.`);
  }
} catch (error) {
  process.exitCode = 1;
  if (process.env['DEBUG']) console.error(error);
}

import { parseArgs } from 'node:util';
import { startHubspot } from './hubspot/index.ts';
import type { Running, StartOptions } from './kit/index.ts';
import { startSalesforce } from './salesforce/index.ts';

const USAGE = 'usage: node simulator/main.ts [hubspot|salesforce] [--port N] [--records N] [--seed N]';
const STARTERS: Record<string, (options: StartOptions) => Promise<Running>> = {
  hubspot: startHubspot,
  salesforce: startSalesforce,
};

/** Starts one simulator, or both; with both, the second listens on the port after the first's. */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      port: { type: 'string' },
      records: { type: 'string' },
      seed: { type: 'string' },
      host: { type: 'string' },
    },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(STARTERS);
  const running: Running[] = [];
  for (const [index, name] of names.entries()) {
    const start = STARTERS[name];
    if (!start) throw new Error(USAGE);
    const options: StartOptions = {};
    if (values.port) options.port = toNumber(values.port) && toNumber(values.port) + index;
    if (values.records) options.records = toNumber(values.records);
    if (values.seed) options.seed = toNumber(values.seed);
    if (values.host) options.host = values.host;
    const one = await start(options);
    running.push(one);
    console.log(`${name} simulator at ${one.url}`);
  }
  const stop = (): void => {
    void Promise.all(running.map((one) => one.close())).then(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function toNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new Error(`${text} is not a number. ${USAGE}`);
  return value;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

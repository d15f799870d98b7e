import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startHubspot } from './hubspot/index.ts';
import type { Running, StartOptions } from './kit/index.ts';
import { startSalesforce } from './salesforce/index.ts';

type Simulator = { name: string; port: number; start: (options: StartOptions) => Promise<Running> };

const simulators: Simulator[] = [
  { name: 'hubspot', port: 4010, start: startHubspot },
  { name: 'salesforce', port: 4011, start: startSalesforce },
];

const usage = `npm run simulator -- [hubspot|salesforce] [options]

Starts the simulated HubSpot on port 4010 and the simulated Salesforce on port 4011, or only the one that is named.
Each shows at its address what is there, and how to control it.

  --port N      the port of the first one; the second takes the next (0: any free one)
  --host ADDR   the address to listen on (127.0.0.1)
  --records N   how many contacts to begin with
  --seed N      another seed makes other data
  --keep DIR    what OAuth granted survives a restart, in files there; without it, connect again after one
  --help        this text`;

const options = {
  port: { type: 'string' },
  records: { type: 'string' },
  seed: { type: 'string' },
  host: { type: 'string' },
  keep: { type: 'string' },
  help: { type: 'boolean' },
} as const;

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options });
  if (values.help) return console.log(usage);
  const chosen = simulators.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.find((name) => !simulators.some((one) => one.name === name));
  if (unknown !== undefined) throw new Error(`there is no simulator "${unknown}"\n\n${usage}`);
  const first = values.port === undefined ? undefined : toNumber('port', values.port);
  const common: StartOptions = {
    ...(values.records === undefined ? {} : { records: toNumber('records', values.records) }),
    ...(values.seed === undefined ? {} : { seed: toNumber('seed', values.seed) }),
    ...(values.host === undefined ? {} : { host: values.host }),
  };
  const running: Running[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((one) => one.close()));
  };
  try {
    for (const [index, one] of chosen.entries()) {
      const port = first === undefined ? one.port : first && first + index;
      const keep = values.keep === undefined ? {} : { keep: join(values.keep, `${one.name}-grants.json`) };
      running.push(await startOn(one, { ...common, ...keep, port }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      stopping ??= stop().then(() => process.exit(0));
    });
  tell(chosen, running);
}

async function startOn({ name, start }: Simulator, startOptions: StartOptions): Promise<Running> {
  try {
    return await start(startOptions);
  } catch (error) {
    const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!inUse) throw error;
    throw new Error(
      `Port ${startOptions.port} for ${name} is taken. End what listens there; \`npm run simulator\` takes another one with --port N.`,
      { cause: error },
    );
  }
}

function tell(chosen: Simulator[], running: Running[]): void {
  const urls = running.map((one) => new URL(one.url));
  for (const [index, { name }] of chosen.entries())
    console.log(`${name}: ${urls[index]?.origin}   open it to see what is there`);
  const origins = chosen.map(({ name }, index) => `${name}=${urls[index]?.origin}`).join(',');
  const hosts = [...new Set(urls.map((url) => url.host))].join(',');
  // Where it is set, the platform was started beside the simulators with the same environment.
  if (process.env['SVC_PROVIDER_ORIGINS'] !== undefined) return;
  console.log(`\nThe platform calls them in place of the providers with\n`);
  console.log(`  SVC_PROVIDER_ORIGINS=${origins} SVC_EGRESS_ALLOW=${hosts} npm start`);
}

function toNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} ${text} is not a number\n\n${usage}`);
  return value;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

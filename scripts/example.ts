/** `npm run example`: the platform, the simulated providers, and the application of examples/embed over them. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildExample, exampleEnv } from './build-example.ts';
import { startChild } from './child.ts';
import { createApi } from './demo/api.ts';
import { freePort, startStage, type Stage } from './demo/processes.ts';
import { apps } from './demo/steps.ts';
import { readSwitches } from './options.ts';

const usage = `npm run example

Builds examples/embed, an application that embeds the components, and runs it over the platform and the simulated providers until Ctrl+C.
Its data is kept in SVC_DATA_DIR (.svc/example).

  --help   this text`;

readSwitches(usage, []);
const dataDir = resolve(process.env['SVC_DATA_DIR'] ?? '.svc/example');
const outDir = join(dataDir, 'built');

await buildExample(outDir);
const stage = await startStage(dataDir);
let app: ReturnType<typeof startChild> | undefined;
let isStopping = false;
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await app?.end();
  await stage.close();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
try {
  const apiKey =
    process.env['SVC_BOOTSTRAP_API_KEY'] ?? (await readFile(join(dataDir, 'first-api-key'), 'utf8')).trim();
  await registerClient(stage, apiKey);
  const origin = `http://127.0.0.1:${await freePort(4020)}`;
  const env = { ...exampleEnv(outDir, stage.base, apiKey), ORIGIN: origin, PORT: new URL(origin).port };
  app = startChild([join(outDir, 'server.mjs')], { env: { PATH: process.env['PATH'], ...env } });
  app.process.stdout?.pipe(process.stdout);
  app.process.stderr?.pipe(process.stderr);
  app.process.once('exit', () => void stop());
  await stage.ended;
  await stop();
} catch (error) {
  await stop();
  throw error;
}

/** The OAuth client that the company made at HubSpot, told to both. */
async function registerClient({ base, hubspot }: Stage, apiKey: string): Promise<void> {
  const redirectUris = [`${base}/callbacks/v1/oauth`];
  await fetch(`${hubspot}/__sim/apps`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...apps.hubspot, redirectUris }),
  });
  const api = createApi(base, apiKey);
  await api.call('POST', '/v1/projects/default/provider-apps', { provider: 'hubspot', ...apps.hubspot });
}

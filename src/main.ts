/** The process: `all` (default), `api`, `worker`, `migrate` or `keys rotate`. The only place that starts things. */
import { chmod, writeFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { join } from 'node:path';
import { createApp, migrateDatabase, prepareDatabase, type App } from './app.ts';
import { ConfigError, describeConfig, readConfig, type Config } from './config.ts';
import type { Health } from './health.ts';
import { createLog, type Logger } from './kit/log.ts';
import { replaceOnUncaught } from './last-resort.ts';
import { rotateAllKeys } from './rotate-keys.ts';
import { listen, type Surfaces } from './server.ts';
import { startWorker } from './worker.ts';

// Buffers count as part of the heap. By default V8 collects all of the heap for every 64 MB of them, which made a large
// body through the proxy cost half as much again.
setFlagsFromString('--external-memory-accounted-in-global-limit');

const roles = ['all', 'api', 'worker', 'migrate', 'keys rotate'] as const;
type Role = (typeof roles)[number];

/** Beyond what is in flight, for the database to be left in order. */
const stopMarginMs = 4_000;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function roleOf(words: readonly string[]): Role {
  const asked = words.join(' ') || 'all';
  const role = roles.find((each) => each === asked);
  if (!role) throw new ConfigError([`"${asked}" is not a role; use one of ${roles.join(', ')}`]);
  return role;
}

/** Shows the first key once: on a terminal, or in a file that only its owner can read. */
async function showFirstKey(config: Config, apiKey: string): Promise<void> {
  if (process.stderr.isTTY) {
    say(`\nThis is the first API key of project "default". It is shown only now:\n\n  ${apiKey}\n`);
    return;
  }
  const path = join(config.dataDir, 'first-api-key');
  await writeFile(path, `${apiKey}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  say(`The first API key of project "default" is in ${path}; move it to a safe place.`);
}

async function bootstrap(app: App, config: Config): Promise<void> {
  const { apiKey } = await app.projects.bootstrap(config.bootstrapApiKey);
  if (apiKey) await showFirstKey(config, apiKey);
}

function announce(surfaces: Surfaces, config: Config, database: string): void {
  say(
    [
      `svc is ready (${database})`,
      `  management  ${surfaces.url}/v1`,
      `  write       ${surfaces.url}/write/v1`,
      `  proxy       ${surfaces.proxyUrl}`,
      `  reference   ${surfaces.url}/docs  (OpenAPI: /openapi.json)`,
      `  health      ${surfaces.url}/healthz, /readyz, /metrics`,
      ...(config.production
        ? []
        : [
            '  The embedded database is for evaluation and small installations; set DATABASE_URL for production.',
          ]),
    ].join('\n'),
  );
}

/** Not ready, stop accepting, finish what is in flight, give leases back. A second signal ends at once. */
function stopOnSignal(health: Health, log: Logger, config: Config, stop: () => Promise<void>): void {
  const onSignal = (signal: NodeJS.Signals): void => {
    if (health.isStopping) process.exit(1);
    health.isStopping = true;
    log.info({ signal }, 'stopping');
    const deadline = setTimeout(() => {
      log.error('what was in flight did not end in time; it will be taken over');
      process.exit(1);
    }, config.shutdownMs + stopMarginMs);
    deadline.unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function run(): Promise<void> {
  const role = roleOf(process.argv.slice(2));
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  log.debug({ config: describeConfig(process.env) }, 'configuration');
  const { url, embedded } = await prepareDatabase(config, log);
  const directUrl = config.databaseDirectUrl ?? url;
  await migrateDatabase(directUrl, log);
  if (role === 'keys rotate') process.exitCode = (await rotateAllKeys(config, directUrl, say)) ? 0 : 1;
  if (role === 'migrate' || role === 'keys rotate') return embedded?.stop();
  const health: Health = { isStopping: false };
  const app = await createApp(config, url, log);
  await bootstrap(app, config);
  const worker = role === 'api' ? undefined : await startWorker(app, config);
  const surfaces = role === 'worker' ? undefined : await listen(app, config, health);
  const stop = async (): Promise<void> => {
    await Promise.all([surfaces?.close(), worker?.stop(config.shutdownMs)]);
    await app.close();
    await embedded?.stop();
  };
  stopOnSignal(health, log, config, stop);
  const patienceMs = config.shutdownMs + stopMarginMs;
  replaceOnUncaught({ health, log, metrics: app.ground.metrics, patienceMs, stop });
  if (surfaces)
    announce(
      surfaces,
      config,
      embedded
        ? `embedded PostgreSQL ${embedded.version} in ${embedded.dataDir}`
        : 'PostgreSQL by DATABASE_URL',
    );
  else say('svc worker is ready');
}

run().catch((error: unknown) => {
  say(
    error instanceof ConfigError
      ? error.message
      : `svc could not start: ${error instanceof Error ? error.message : String(error)}`,
  );
  if (!(error instanceof ConfigError) && process.env['SVC_LOG_LEVEL'] === 'debug')
    say(String((error as Error).stack));
  process.exit(1);
});

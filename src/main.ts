/** The process, in one of the roles of {@link Command}. The only place that starts things. */
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { checkKeys, createApp, migrateDatabase, migrations, prepareDatabase, type App } from './app.ts';
import { Failure, saidOf } from './cli/failure.ts';
import { ConfigError } from './config-error.ts';
import { describeConfig, readConfig, type Config } from './config.ts';
import { readCommand, type Command } from './command.ts';
import { createKey, demote, makeFirstKey, makeFirstLink, printLink } from './first-key.ts';
import { untilResumed } from './held.ts';
import { listenForHealth, type Health } from './health.ts';
import { watchLineage } from './kit/db/lineage.ts';
import { noteKeyInUse } from './kit/key-check.ts';
import { isMigrated } from './kit/db/migrate.ts';
import { describePlan, planMigration } from './kit/db/migration-plan.ts';
import { despiteOutages, untilDatabaseAnswers } from './kit/db/wait.ts';
import { endingCertificates } from './kit/certificates.ts';
import { createLog, type Logger } from './kit/log.ts';
import { replaceOnUncaught } from './last-resort.ts';
import { Problem } from './kit/problem.ts';
import { assertSameDatabase, limitRemedy } from './kit/db/same-database.ts';
import { assertReady } from './kit/db/readiness.ts';
import { originOf, refusingStates, sqlState } from './kit/db/faults.ts';
import { assertKeepsSessions } from './kit/db/sessions.ts';
import { watchSkew } from './kit/db/skew.ts';
import { goOnPromoted, holdRestored, resumeRestored } from './restore.ts';
import { rotateAllKeys } from './rotate-keys.ts';
import { createSay } from './say.ts';
import { listen, type Surfaces } from './server.ts';
import { reasonsOf, refusedBy, unanswered, unplanned } from './unreached.ts';
import { startWorker } from './worker.ts';

// Buffers count as part of the heap. By default V8 collects all of the heap for every 64 MB of them, which made a large
// body through the proxy cost half as much again.
setFlagsFromString('--external-memory-accounted-in-global-limit');
// V8 allocates the objects of a line of code among the old ones when most objects of that line lived for long. A line that runs at start and
// in each request misleads it: its object then keeps all of the request until a full collection. That happened in some runs and not in
// others, and accepting writes took a third more time.
setFlagsFromString('--no-allocation-site-pretenuring');

interface Process {
  config: Config;
  log: Logger;
  health: Health;
}

interface Opened {
  url: string;
  /** For statements that need a session of their own. */
  directUrl: string;
  /** For people. */
  name: string;
}

type Patience = Pick<Config, 'drainMs' | 'shutdownMs'>;

/** With further time to close the database in order. */
const stopWithinMs = ({ drainMs, shutdownMs }: Patience): number => drainMs + shutdownMs + 4_000;
/** A Ctrl+C comes from the terminal, and again from each parent that passes it on, such as npm. */
const sameSignalMs = 1_000;

// Nobody may read them, or their disk be full: that is no reason to end.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const say = createSay(process.env['SVC_LOG_FORMAT']);
/** What a command answers that does one thing and ends. */
const answer = (line: string): boolean => process.stderr.write(`${line}\n`);

function announce(surfaces: Surfaces, healthUrl: string, config: Config, database: string): void {
  say(`svc is ready (${database})`, {
    about: {
      management: `${surfaces.url}/v1`,
      write: `${surfaces.url}/write/v1`,
      proxy: surfaces.proxyUrl,
      reference: `${surfaces.url}/docs/api  (OpenAPI: /openapi.json)`,
      health: `${healthUrl}/healthz, /readyz, /metrics`,
    },
  });
  if (!config.production)
    say('The embedded database is for evaluation and small installations; set DATABASE_URL for production.');
}

/** Not ready, stop accepting, finish what is in flight, give leases back. A second signal, a second later or more, ends at once. */
function stopOnSignal(
  command: Command,
  { config, log, health }: Pick<Process, 'log' | 'health'> & { config: Patience },
  stop: () => Promise<void>,
): void {
  let toldAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (toldAt !== undefined) {
      if (performance.now() - toldAt >= sameSignalMs) process.exit(1);
      return;
    }
    toldAt = performance.now();
    health.isStopping = true;
    health.isToldToEnd = true;
    log.info({ signal }, 'stopping');
    const deadline = setTimeout(() => {
      log.error('what was in flight did not end in time; it will be taken over');
      process.exit(1);
    }, stopWithinMs(config));
    deadline.unref();
    stop().then(
      // A command that was told to end has not done what it is for.
      () => process.exit(isServing(command) ? 0 : 128 + constants.signals[signal]),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  // SIGHUP comes when the terminal is gone.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
}

/** What was started, in order, or is being started, so that it can be stopped; also when the start fails half way. */
interface Running {
  storage?: ReturnType<typeof prepareDatabase>;
  app?: App;
  worker?: ReturnType<typeof startWorker>;
  surfaces?: Promise<Surfaces>;
  healthListener?: ReturnType<typeof listenForHealth>;
  endWatch?: () => void;
  endTracing?: (() => Promise<void>) | undefined;
  stopped?: Promise<void>;
}

/** Once, whoever asks: a signal may come while what follows an uncaught error stops it. */
function stopAll(running: Running, config: Patience): Promise<void> {
  running.stopped ??= stopEach(running, config);
  return running.stopped;
}

async function stopEach(running: Running, config: Patience): Promise<void> {
  const { surfaces, worker, healthListener, app, storage, endWatch, endTracing } = running;
  endWatch?.();
  await Promise.all([
    stopStarted(surfaces, (one) => one.close()),
    stopStarted(worker, (one) => one.stop(config.shutdownMs)),
  ]);
  await stopStarted(healthListener, (one) => one?.close());
  await app?.close();
  await Promise.all([stopStarted(storage, ({ embedded }) => embedded?.stop()), endTracing?.()]);
}

/** Stops what comes of a start. One that fails has nothing to stop. */
async function stopStarted<Started>(
  start: Promise<Started> | undefined,
  stop: (started: Started) => Promise<void> | undefined,
): Promise<void> {
  const started = await start?.catch(() => undefined);
  if (started !== undefined) await stop(started);
}

async function run(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  if (command.role === 'doctor') return doctor(command);
  if (!isServing(command)) undone = `svc ${command.role} failed`;
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, { format: config.logFormat });
  // Node would write them as text between the lines.
  process.removeAllListeners('warning').on('warning', (err) => log.warn({ err }, 'node warns'));
  log.debug({ config: describeConfig(process.env) }, 'configuration');
  const health: Health = { isStopping: false };
  const running: Running = {};
  stopOnSignal(command, { config, log, health }, () => stopAll(running, config));
  try {
    if (command.plan) return await showPlan(command, config, log, running);
    const opened = await openStorage(command, config, log, running);
    await (isServing(command)
      ? serve(command, { config, log, health }, opened, running)
      : once(command, config, opened, log));
    if (!isServing(command)) await stopAll(running, config);
  } catch (error) {
    // The signal's own handler stops what was started, and ends the process.
    if (health.isStopping) return;
    await stopAll(running, config).catch((fault: unknown) => log.warn({ err: fault }, 'stopping failed'));
    throw error;
  }
}

function isServing({ role }: Command): boolean {
  return role === 'all' || role === 'api' || role === 'worker';
}

/** The database, up and of this release. What works on one that must be there makes none. */
async function openStorage(command: Command, config: Config, log: Logger, running: Running): Promise<Opened> {
  const mustExist = /^(master-keys|operator-keys|people|restore) /.test(command.role);
  running.storage = prepareDatabase(config, log, { mustExist });
  const { url, name } = await running.storage;
  const directUrl = config.databaseDirectUrl ?? url;
  const direct = url === directUrl ? name : 'the database of SVC_DATABASE_DIRECT_URL';
  const patience = patienceOf(command);
  await untilDatabaseAnswers(directUrl, waiting('the database'), patience).catch(refusedBy(direct));
  if (url !== directUrl)
    await untilDatabaseAnswers(url, waiting('the pooler of DATABASE_URL'), patience).catch(refusedBy(name));
  const step = <Value>(at: string, work: () => Promise<Value>): Promise<Value> =>
    again(at, work, patience).catch(unanswered(at === url ? name : direct));
  if (mustExist && !(await step(directUrl, () => isMigrated(directUrl))))
    throw new Error(
      `${name} is not one of svc: it has no tables of it. Start svc there once, or name another one`,
    );
  if (config.production) await step(directUrl, () => assertKeepsSessions(directUrl));
  const fault = url === directUrl ? undefined : await step(url, () => assertSameDatabase(url, directUrl));
  if (fault !== undefined) log.warn(`${fault}. ${limitRemedy}`);
  await step(directUrl, () => migrateDatabase(directUrl, log));
  return { url, directUrl, name };
}

/** `migrate` waits as the server does: it stands before it where both start together with the database. */
function patienceOf(command: Command): number {
  return isServing(command) || command.role === 'migrate' ? Infinity : 30_000;
}

/** Whether this start found the database away. */
let hasWaited = false;

const waiting = (what: string) => (fault: string) => {
  hasWaited = true;
  say(`waiting for ${what}: ${fault}`, { level: 'warn' });
};

/** The same step, until the database stays for all of it. */
function again<Value>(url: string, step: () => Promise<Value>, patienceMs = Infinity): Promise<Value> {
  const sayLost = (error: unknown): void => {
    const isRefusing = refusingStates.has(sqlState(originOf(error)) ?? '');
    const what = isRefusing ? 'waiting for the database' : 'the database went away during the start';
    say(`${what}: ${reasonsOf(error).at(-1)}`, { level: 'warn' });
  };
  return despiteOutages(step, { url, sayLost, sayFault: waiting('the database'), patienceMs });
}

/** A configuration that is wrong is a finding, too. */
async function doctor(command: Command): Promise<void> {
  const { examine } = await import('./doctor.ts');
  const log = createLog('silent');
  const health: Health = { isStopping: false };
  const running: Running = {};
  const config: Patience = { drainMs: 0, shutdownMs: 30_000 };
  stopOnSignal(command, { config, log, health }, () => stopAll(running, config));
  process.exitCode = await examine(process.env, command.json, {
    log,
    begun: (storage) => void (running.storage = storage),
    isStopping: () => health.isStopping,
  });
}

/** Of `migrate --plan`: nothing is changed, and no database is made. */
async function showPlan({ json }: Command, config: Config, log: Logger, running: Running): Promise<void> {
  running.storage = prepareDatabase(config, log, { mustExist: true });
  const { url, name } = await running.storage.catch(unplanned);
  const plan = await planMigration(config.databaseDirectUrl ?? url, migrations).catch((error: unknown) =>
    unplanned(
      error,
      config.databaseDirectUrl === undefined ? name : 'the database of SVC_DATABASE_DIRECT_URL',
    ),
  );
  process.stdout.write(`${json ? JSON.stringify(plan) : describePlan(plan).join('\n')}\n`);
  await stopAll(running, config);
}

/** A role that does one thing and ends. */
async function once(
  { role, nothingLost, ...given }: Command,
  config: Config,
  { directUrl, name }: Opened,
  log: Logger,
): Promise<void> {
  if (role === 'migrate') await again(directUrl, () => makeFirstKey(config, directUrl, say));
  if (role === 'operator-keys create') await createKey(directUrl, { ...given, in: name }, answer);
  if (role === 'people invite' || role === 'people reset')
    await printLink(config, directUrl, { kind: role, email: given.email, place: name }, answer);
  if (role === 'people demote') await demote(directUrl, { email: given.email ?? '', place: name }, answer);
  if (role === 'restore hold') await holdRestored(directUrl, name, answer);
  if (role === 'restore resume')
    await resumeRestored({ url: directUrl, name, nothingLost, failoverMs: config.failoverMs }, log, answer);
  if (role !== 'master-keys rotate') return;
  answer(`In ${name}:`);
  process.exitCode = (await rotateAllKeys(config, directUrl, answer)) ? 0 : 1;
}

async function serve(
  { role }: Command,
  { config, log, health }: Process,
  { url, directUrl, name }: Opened,
  running: Running,
): Promise<void> {
  const isStopping = (): boolean => health.isStopping;
  await again(directUrl, () => untilResumed({ config, log, url: directUrl, role }, isStopping, say));
  if (isStopping()) return;
  if (role !== 'worker') {
    await again(directUrl, () => makeFirstKey(config, directUrl, say));
    await again(directUrl, () => makeFirstLink(config, directUrl, say));
  }
  for (const { says } of endingCertificates(config.extraCa)) log.warn(`SVC_EXTRA_CA: ${says}`);
  running.endTracing = await beginTracing(config, role, log);
  const app = await again(url, () => createApp(config, url, log));
  running.app = app;
  await again(url, () => checkKeys(app));
  await assertReady(app.ground.database).catch((error: unknown) => {
    // A database that takes no changes may take them later.
    if (!(error instanceof Problem) || error.code === 'clock-wrong') throw error;
    log.warn({ err: error }, 'not ready yet');
  });
  if (isStopping()) return;
  const patienceMs = stopWithinMs(config);
  const { database, vault, metrics } = app.ground;
  replaceOnUncaught({ health, log, metrics, patienceMs, stop: () => stopAll(running, config) });
  const endings = [watchRestores(app, config, log), watchClock(app, log), noteKeyInUse(database, vault, log)];
  running.endWatch = () => endings.forEach((end) => end());
  // What is begun from here on is stopped by a signal; after one nothing is begun.
  if (role !== 'api') await (running.worker = startWorker(app, config, hasWaited));
  if (isStopping()) return;
  if (role !== 'worker') running.surfaces = listen(app, config, health);
  const surfaces = await running.surfaces;
  if (isStopping()) return;
  running.healthListener = listenForHealth(app, config, health, role === 'worker');
  const healthUrl = (await running.healthListener)?.url;
  if (isStopping()) return;
  if (surfaces) announce(surfaces, healthUrl ?? surfaces.url, config, name);
  else say('svc worker is ready', { about: { health: `${healthUrl}/healthz, /readyz, /metrics` } });
}

/** The SDK is loaded only where it is used. */
async function beginTracing(
  { otlpEndpoint: endpoint, traceContextTo: tellTo }: Config,
  role: string,
  log: Logger,
): Promise<(() => Promise<void>) | undefined> {
  if (endpoint === undefined || process.env['OTEL_SDK_DISABLED'] === 'true') return undefined;
  const { startTracing } = await import('./tracing.ts');
  return startTracing({ log, role, endpoint, tellTo });
}

/** A node that finds itself on a restored database ends at once: what it has under way belongs to the database that is gone. */
function watchRestores({ ground: { database } }: App, { failoverMs }: Config, log: Logger): () => void {
  return watchLineage(
    database,
    { failoverMs },
    {
      restored(why) {
        log.fatal({ why }, 'the database was restored; this node ends, and is held when it starts again');
        process.exit(1);
      },
      promoted: () => goOnPromoted(database, log),
    },
  );
}

function watchClock({ ground: { database } }: App, log: Logger): () => void {
  return watchSkew(database, {
    onSkewed(aheadMs) {
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      const side = aheadMs > 0 ? 'ahead of' : 'behind';
      log.warn(
        `the clock of this node is ${seconds} s ${side} that of the database: let both follow time servers`,
      );
    },
    onRight: () => log.info('the clock of this node and that of the database agree again'),
  });
}

/** How the end of the process begins when what it was asked for fails. */
let undone = 'svc could not start';

run().catch((error: unknown) => {
  if (error instanceof Failure) {
    process.stderr.write(`${saidOf(error, process.argv.includes('--json'))}\n`);
    process.exit(error.exitCode);
  }
  const reason = error instanceof ConfigError ? error.message : `${undone}: ${reasonsOf(error).join(': ')}`;
  say(reason, { level: 'fatal' });
  if (!(error instanceof ConfigError) && process.env['SVC_LOG_LEVEL'] === 'debug')
    say(String((error as Error).stack), { level: 'fatal' });
  process.exit(1);
});

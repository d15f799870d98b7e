import { join } from 'node:path';
import { eraseProxyLog, proxyLogPartitions, proxyMetrics } from './actions/proxy/index.ts';
import {
  connectionMetrics,
  createConnections,
  eraseCustomers,
  sealedConnectionColumns,
  type Connections,
} from './connections/index.ts';
import {
  auditPartitions,
  createStreams,
  eraseEvents,
  eventPartitions,
  type Streams,
} from './events/index.ts';
import { createInstallations, type Installations } from './installations/index.ts';
import { createChanges } from './kit/changes/index.ts';
import { makeDataFolder } from './kit/data-folder.ts';
import { openDatabase } from './kit/db/database.ts';
import { joinEmbedded, startEmbedded, type EmbeddedServer } from './kit/db/embedded/index.ts';
import { migrate } from './kit/db/migrate.ts';
import { keepPartitions } from './kit/db/partitions.ts';
import { createEgress, isRefused } from './kit/http/egress.ts';
import { checkMasterKeys, findKeyFault } from './kit/key-check.ts';
import type { Ground } from './kit/ground.ts';
import type { Logger } from './kit/log.ts';
import { createMetrics } from './kit/metrics.ts';
import { registerGauges } from './gauges.ts';
import { createVault } from './kit/vault.ts';
import { eraseReadLinks, readMetrics, type ReadDeps } from './actions/read/index.ts';
import { createWrites, type Writes } from './actions/write/index.ts';
import {
  createOperations,
  eraseOperations,
  eraseExchanges,
  exchangePartitions,
  historyPartitions,
  operationMetrics,
  type Operations,
} from './operations/index.ts';
import {
  createProjects,
  eraseConnectLinks,
  projectMetrics,
  sealedProjectColumns,
  type Projects,
} from './projects/index.ts';
import { createPeople, oidcOf, sealedPeopleColumns, type People } from './people/index.ts';
import { loadCatalog, type Catalog } from './providers/index.ts';
import {
  createDeliveries,
  destinationFault,
  deliveryMetrics,
  eraseMessages,
  messagePartitions,
  sealedDestinationColumns,
  type Deliveries,
} from './deliveries/index.ts';
import { createRetention, type History, type Retention } from './retention/index.ts';
import { createTransfer, type Transfer } from './transfer/index.ts';
import { publicUrlOf, type Config } from './config.ts';
import { forgetWelcomeLink } from './first-key.ts';
import { assertKeysKept, masterKeysOf } from './master-keys.ts';

/** The rooms, built in their order upon one ground. Nothing listens and nothing works yet. */
export interface App {
  ground: Ground;
  catalog: Catalog;
  projects: Projects;
  people: People;
  connections: Connections;
  installations: Installations;
  operations: Operations;
  deliveries: Deliveries;
  writes: Writes;
  retention: Retention;
  streams: Streams;
  transfer: Transfer;
  close(): Promise<void>;
}

export const migrations = join(import.meta.dirname, '../migrations');
const partitions = [
  ...auditPartitions,
  ...eventPartitions,
  ...historyPartitions,
  ...exchangePartitions,
  ...messagePartitions,
  ...proxyLogPartitions,
];

/** Where the process keeps what it knows: the external database, or the embedded one. */
interface Storage {
  url: string;
  embedded?: EmbeddedServer;
  /** For people; without the password. */
  name: string;
}

/** The external database, or the embedded one, started or adopted. With `mustExist` none is made, and one that runs is joined. */
export async function prepareDatabase(
  config: Config,
  log: Logger,
  { mustExist }: { mustExist: boolean },
): Promise<Storage> {
  if (config.databaseUrl) return { url: config.databaseUrl, name: nameOf(config.databaseUrl) };
  if (!mustExist) {
    await assertKeysKept(config);
    await makeDataFolder(config.dataDir);
  }
  const given = {
    dataDir: join(config.dataDir, 'postgres'),
    log: (line: string): void => log.info({ from: 'postgres' }, line),
  };
  const embedded = await (mustExist ? joinEmbedded(given) : startEmbedded(given));
  if (embedded) return { url: embedded.url, embedded, name: `the embedded database in ${embedded.dataDir}` };
  throw new NoEmbedded(given.dataDir);
}

/** There is no database where one must be. */
export class NoEmbedded extends Error {
  readonly folder: string;
  readonly remedy: string;
  constructor(folder: string) {
    const remedy =
      'Run the command where svc runs, or set SVC_DATA_DIR or DATABASE_URL as they are set for svc';
    super(`there is no embedded database in ${folder}. ${remedy}`);
    this.folder = folder;
    this.remedy = `${remedy}.`;
  }
}

function nameOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `the database ${host || (searchParams.get('host') ?? 'localhost')}${pathname} of DATABASE_URL`;
}

/** Brings the schema up to this release. */
export async function migrateDatabase(url: string, log: Logger): Promise<string[]> {
  const database = openDatabase({ url, poolSize: 2, applicationName: 'svc migrate' });
  try {
    const { applied, later } = await migrate(database, { directory: migrations });
    if (later.length > 0)
      log.info({ later }, 'the database is of a later release, beside which this one works');
    // The workers try again; partitions exist for months.
    await keepPartitions(database, partitions).catch((error: unknown) =>
      log.warn({ err: error }, 'partitions could not be made; the workers try again'),
    );
    if (applied.length > 0) log.info({ applied }, 'migrated');
    return applied;
  } finally {
    await database.close();
  }
}

export async function createApp(config: Config, url: string, log: Logger): Promise<App> {
  const ground = await createGround(config, url, log);
  const catalog = loadCatalog({ directory: config.providersDir, origins: config.providerOrigins });
  const projects = createProjects(ground, {
    catalog,
    failuresPerMinute: config.authFailures,
    requestsPerSecond: config.rateLimitPerKey,
    allowedOrigins: config.allowedOrigins,
    returnUrls: config.returnUrls,
    keepDays: keepDaysOf(config),
  });
  const people = createPeople({
    ground,
    projects,
    oidc: oidcOf(config),
    afterWelcome: () => forgetWelcomeLink(config, log),
  });
  const connections = createConnections(ground, {
    projects,
    catalog,
    backfillReservePercent: config.backfillReserve,
  });
  const installations = createInstallations(ground, { projects, connections, catalog });
  const operations = createOperations(ground, config);
  const deliveries = createDeliveries(ground, {
    production: config.production,
    egressAllow: config.egressAllow,
    filesFolder: config.production ? undefined : join(config.dataDir, 'files'),
    leaseMs: config.leaseMs,
    mappedFields: installations.mappedFields,
  });
  operations.tellBy({ offer: deliveries.handOver.offerTold });
  projects.askForDestinationsBy(async (projectId, name) => {
    const fault = destinationFault(await deliveries.findDestination(projectId, name), name);
    return fault && `${fault}; what is read for it waits until there is one`;
  });
  const writes = createWrites(ground, operations, { leaseMs: config.leaseMs });
  hurryDead(connections, operations, log);
  const changes = createChanges(ground.database, log);
  const app: App = {
    ground,
    catalog,
    projects,
    people,
    connections,
    installations,
    operations,
    deliveries,
    writes,
    retention: createRetention(ground.database, historiesOf(config)),
    streams: createStreams(changes, config, ground.log),
    transfer: createTransfer({ ...ground, catalog, projects }),
    close: () => closeApp(app, changes),
  };
  registerGauges(app);
  return app;
}

async function closeApp(app: App, changes: { close(): Promise<void> }): Promise<void> {
  const { ground, projects, people, connections, installations, operations, deliveries, writes } = app;
  await Promise.all([writes.close(), deliveries.close()]);
  // Whoever asked for something to be queued was answered, or is gone.
  await operations.close(2_000);
  installations.close();
  await connections.close();
  await people.close();
  await projects.close();
  await changes.close();
  await ground.egress.close();
  await ground.database.close();
}

const awaySentences = {
  silent: 'the database does not answer',
  refusing: 'the database takes no changes',
};

/** Without a stack: where the statement came from says nothing about the outage. */
function reasonOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: string; message?: string };
  // An error of several addresses has a code and no message.
  return [message, code].filter(Boolean).join(' ') || String(error);
}

async function createGround(config: Config, url: string, log: Logger): Promise<Ground> {
  const database = openDatabase({
    url,
    directUrl: config.databaseDirectUrl,
    poolSize: config.poolSize,
    applicationName: 'svc',
    onIdleError: (error) => log.debug({ err: error }, 'an idle database connection was lost'),
    onAway: (error, what) => log.warn({ reason: reasonOf(error) }, awaySentences[what]),
    onBack: (afterMs) => log.info(`the database is back after ${Math.ceil(afterMs / 1000)} s`),
    onUnprepared: () =>
      log.warn('the pooler does not follow prepared statements: every statement is planned anew'),
  });
  const masterKeys = await masterKeysOf(config, database).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return {
    database,
    log,
    vault: createVault(masterKeys),
    egress: createEgress({
      allow: config.egressAllow,
      connectTimeoutMs: config.limits.connectMs,
      ...(config.outboundProxy ? { outboundProxy: config.outboundProxy } : {}),
      ...(config.extraCa ? { extraCa: config.extraCa } : {}),
      onFailure: (error, host) => {
        if (isRefused(error)) log.warn({ err: error, host }, 'an address was refused');
        else log.info({ err: error, host }, 'a connection failed');
      },
    }),
    metrics: createMetrics([
      ...projectMetrics,
      ...connectionMetrics,
      ...operationMetrics,
      ...proxyMetrics,
      ...deliveryMetrics,
      ...readMetrics,
    ]),
    limits: config.limits,
    publicUrl: publicUrlOf(config),
  };
}

const keepDaysOf = (config: Config) => ({
  operations: config.operationKeepDays,
  exchanges: config.exchangeKeepDays,
  messages: config.messageKeepDays,
  events: config.eventKeepDays,
  proxyLogs: config.proxyLogKeepDays,
  auditLog: config.auditKeepDays,
});

/** What grows, by the names under which it is shown. */
export function historiesOf(config: Config): History[] {
  const keepDays = keepDaysOf(config);
  return [
    {
      kind: 'operations',
      tables: historyPartitions,
      keepDays: keepDays.operations,
      erase: eraseOperations,
    },
    {
      kind: 'exchanges',
      tables: exchangePartitions,
      keepDays: keepDays.exchanges,
      erase: eraseExchanges,
    },
    { kind: 'messages', tables: messagePartitions, keepDays: keepDays.messages, erase: eraseMessages },
    { kind: 'events', tables: eventPartitions, keepDays: keepDays.events, erase: eraseEvents },
    {
      kind: 'proxyLogs',
      tables: proxyLogPartitions,
      keepDays: keepDays.proxyLogs,
      erase: eraseProxyLog,
    },
    // Swept by their own rooms.
    { kind: 'readLinks', tables: [], keepDays: 7, erase: eraseReadLinks },
    { kind: 'connectLinks', tables: [], keepDays: 14, erase: eraseConnectLinks },
    { kind: 'customers', tables: [], keepDays: 0, erase: eraseCustomers },
    { kind: 'auditLog', tables: auditPartitions, keepDays: keepDays.auditLog },
  ];
}

/** What reads work with. */
export function readDepsOf(app: App, config: Config): ReadDeps {
  return { ...app, settings: { failuresUntilPause: config.readFailures, bulkFrom: config.readBulkFrom } };
}

/** Work that waits for a later attempt fails now. If this node dies first, it fails at that attempt. */
function hurryDead(connections: Connections, operations: Operations, log: Logger): void {
  connections.onDead((projectId, id) => {
    operations.hurryLane(projectId, id).catch((error: unknown) => {
      log.warn(
        { err: error, projectId, connectionId: id },
        'what waits for a dead connection was not looked at early',
      );
    });
  });
}

/** Throws unless the database was sealed with the master keys of this process. One that is lacked is told in the log: it may be lost for good. */
export async function checkKeys({ ground: { database, vault, log } }: App): Promise<void> {
  await checkMasterKeys(database, vault, sealedColumns);
  const fault = await findKeyFault(database, vault, sealedColumns);
  if (fault !== undefined) log.warn(fault);
}

export const sealedColumns = [
  ...sealedConnectionColumns,
  ...sealedProjectColumns,
  ...sealedPeopleColumns,
  ...sealedDestinationColumns,
];

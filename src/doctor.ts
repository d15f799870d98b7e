/** `svc server doctor`: looks at everything that a node needs, and changes nothing. */
import { access, mkdtemp, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import { migrations, prepareDatabase, sealedColumns } from './app.ts';
import { ConfigError } from './config-error.ts';
import { hostInUrl, readConfig, type Config } from './config.ts';
import { connectedProviders } from './connections/index.ts';
import { judgeEnd, judgePem } from './kit/certificates.ts';
import { openDatabase, type Database } from './kit/db/database.ts';
import type { EmbeddedServer } from './kit/db/embedded/index.ts';
import { examineDatabase } from './kit/db/examine.ts';
import { judgeLineage, readLineageOf } from './kit/db/lineage.ts';
import { planMigration } from './kit/db/migration-plan.ts';
import { assertSameDatabase, limitRemedy } from './kit/db/same-database.ts';
import { assertKeepsSessions } from './kit/db/sessions.ts';
import { describeFindings, faulty, good, warning, type Finding } from './kit/finding.ts';
import { createEgress } from './kit/http/egress.ts';
import { sendHttp } from './kit/http/client.ts';
import { endOfCertificate } from './kit/http/peer-certificate.ts';
import { findKeyFault } from './kit/key-check.ts';
import type { Logger } from './kit/log.ts';
import { unseenSeconds } from './lanes/index.ts';
import { createVault } from './kit/vault.ts';
import { masterKeysOf } from './master-keys.ts';
import { loadCatalog } from './providers/index.ts';

const fewBytes = 1_000_000_000;
const noBytes = 50_000_000;

/** Around a look, which may be ended before it is done. */
interface Around {
  log: Logger;
  /** The embedded database runs for the look, perhaps. */
  begun?: (storage: ReturnType<typeof prepareDatabase>) => void;
  isStopping?: () => boolean;
}

/** Prints what it found. Answers with the exit code: 0 where nothing must be mended. */
export async function examine(env: NodeJS.ProcessEnv, json: boolean, around: Around): Promise<number> {
  const findings = await findingsOf(env, around);
  // What was not there any more is no finding.
  if (around.isStopping?.()) return 1;
  process.stdout.write(`${json ? JSON.stringify(findings) : describeFindings(findings)}\n`);
  return findings.some(({ state }) => state === 'fault') ? 1 : 0;
}

export async function findingsOf(env: NodeJS.ProcessEnv, around: Around): Promise<Finding[]> {
  const findings = [good('release', `svc ${packageFile.version} on Node ${process.versions.node}`)];
  const config = configOf(env, findings);
  if (config) {
    findings.push(...(await examineHost(config)));
    findings.push(...(await examineStorage(config, around)));
  }
  return findings;
}

function configOf(env: NodeJS.ProcessEnv, findings: Finding[]): Config | undefined {
  try {
    const config = readConfig(env);
    findings.push(good('configuration', 'every variable is known and in its range'));
    return config;
  } catch (error) {
    const issues = error instanceof ConfigError ? error.issues : [(error as Error).message];
    const remedy = 'Set the variable as docs/configuration.md says. The rest is looked at then.';
    findings.push(...issues.map((issue) => faulty('configuration', issue, remedy)));
    return undefined;
  }
}

async function examineHost(config: Config): Promise<Finding[]> {
  const { extraCa, publicUrl } = config;
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  return [
    await examineFolder(config),
    ...(await examinePorts(config)),
    ...(extraCa === undefined ? [] : judgePem('SVC_EXTRA_CA', extraCa)),
    ...(url?.protocol === 'https:' ? [await examineFront(url)] : []),
  ];
}

async function examineFront({ hostname, port }: URL): Promise<Finding> {
  const endsAt = await endOfCertificate(hostname, Number(port || 443));
  if (endsAt) return judgeEnd('SVC_PUBLIC_URL', hostname, endsAt);
  const remedy =
    'Look whether the proxy in front runs and is reached by this name; callers and browsers come this way.';
  return warning('SVC_PUBLIC_URL', `nothing speaks TLS at ${hostname}`, remedy);
}

/** Without a database of its own a node needs the folder only for its first key. */
async function examineFolder({ dataDir, production }: Config): Promise<Finding> {
  const subject = 'SVC_DATA_DIR';
  const place = await nearestFolder(dataDir);
  const wrong = production ? warning : faulty;
  const remedy = production
    ? 'Only a first key is written there; SVC_BOOTSTRAP_API_KEY spares it.'
    : 'Give svc a folder that it may write to, on a file system that is not read-only.';
  try {
    await rm(await mkdtemp(join(place, '.svc-doctor-')), { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'EROFS' ? 'its file system is read-only' : `it takes no files from this user (${code})`;
    return wrong(subject, `${dataDir} cannot be written: ${why}`, remedy);
  }
  const { bavail, bsize } = await statfs(place);
  return judgeRoom(bavail * bsize, dataDir, production);
}

/** In production the database stands elsewhere. */
export function judgeRoom(free: number, folder: string, production: boolean): Finding {
  const subject = 'SVC_DATA_DIR';
  const says = `${Math.floor(free / 1_000_000)} MB are free in ${folder}`;
  const remedy = 'Make room on this disk: the embedded database stands there.';
  if (production || free >= fewBytes) return good(subject, says);
  return free < noBytes ? faulty(subject, says, remedy) : warning(subject, says, remedy);
}

async function nearestFolder(path: string): Promise<string> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearestFolder(dirname(path));
}

async function examinePorts({ host, port, proxyPort, healthPort }: Config): Promise<Finding[]> {
  const ports = { SVC_PORT: port, SVC_PROXY_PORT: proxyPort, SVC_HEALTH_PORT: healthPort ?? 0 };
  const isRunning = await isSvc(host, port);
  if (isRunning) return [good('ports', `svc answers at ${port}`)];
  const wanted = Object.entries(ports).filter(([, number]) => number !== 0);
  return Promise.all(
    wanted.map(async ([name, number]) => {
      const fault = await faultOfPort(host, number);
      return fault === undefined
        ? good('ports', `${number} is free (${name})`)
        : faulty('ports', `port ${number} ${fault}`, `Set ${name} to another one, or stop what has it.`);
    }),
  );
}

async function isSvc(host: string, port: number): Promise<boolean> {
  const egress = createEgress({
    allow: { allows: () => true, allowsAddress: () => true },
    connectTimeoutMs: 2_000,
  });
  const result = await sendHttp(
    egress,
    { method: 'GET', url: `http://${placeIn(host)}:${port}/healthz` },
    { timeoutMs: 2_000 },
  );
  await egress.close();
  return 'answer' in result && result.answer.headers['x-request-id'] !== undefined;
}

const placeIn = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : hostInUrl(host);

function faultOfPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? 'is taken by something else' : `cannot be had (${code})`),
    );
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function examineStorage(config: Config, { log, begun }: Around): Promise<Finding[]> {
  let embedded: EmbeddedServer | undefined;
  try {
    const preparing = prepareDatabase(config, log, { mustExist: true });
    begun?.(preparing);
    const storage = await preparing;
    embedded = storage.embedded;
    const url = config.databaseDirectUrl ?? storage.url;
    const { findings, isUsable } = await examineDatabase(url, config.poolSize);
    const pooler = storage.url === url ? [] : [await examinePooler(storage.url, url)];
    if (!isUsable) return [...findings, ...pooler];
    const sessions = config.production ? await examineSessions(url) : [];
    if (sessions.length > 0) return [...findings, ...pooler, ...sessions];
    const schema = await examineSchema(url);
    const more = schema.isThere ? await examineContents(config, url) : [];
    return [...findings, ...pooler, ...schema.findings, ...more];
  } catch (error) {
    const { message } = error as Error;
    return [faulty('database', message, remedyOf(config))];
  } finally {
    await embedded?.stop();
  }
}

function remedyOf({ production }: Config): string {
  return production
    ? 'Let DATABASE_URL lead to the database, or SVC_DATABASE_DIRECT_URL, where a pooler is between.'
    : 'A start makes the embedded database; for one of your own set DATABASE_URL.';
}

/** Nothing, where the session of a connection is its own. */
async function examineSessions(url: string): Promise<Finding[]> {
  try {
    await assertKeepsSessions(url);
    return [];
  } catch (error) {
    return [
      faulty('sessions', (error as Error).message, 'Nothing works reliably before; see "Behind a pooler".'),
    ];
  }
}

async function examinePooler(pooled: string, direct: string): Promise<Finding> {
  try {
    const fault = await assertSameDatabase(pooled, direct);
    if (fault !== undefined) return warning('pooler', fault, limitRemedy);
    return good('pooler', 'DATABASE_URL and SVC_DATABASE_DIRECT_URL lead to one database');
  } catch (error) {
    return faulty(
      'pooler',
      (error as Error).message,
      'Let both variables lead to the same database, and start the pooler.',
    );
  }
}

async function examineSchema(url: string): Promise<{ findings: Finding[]; isThere: boolean }> {
  try {
    const { at, migrations: missing } = await planMigration(url, migrations);
    const names = missing.map(({ name }) => name).join(', ');
    if (at === undefined)
      return {
        findings: [
          warning(
            'migrations',
            'the database has no tables of svc yet',
            'A start makes them, or svc migrate.',
          ),
        ],
        isThere: false,
      };
    if (missing.length === 0)
      return { findings: [good('migrations', `at ${at}, as this release`)], isThere: true };
    const says = `at ${at}; ${names} ${missing.length === 1 ? 'is' : 'are'} missing`;
    const remedy = 'A start applies them, or svc migrate; svc migrate --plan says what that does.';
    return {
      findings: [warning('migrations', says, remedy)],
      isThere: missing.every(({ compatible }) => compatible),
    };
  } catch (error) {
    return {
      findings: [
        faulty('migrations', (error as Error).message, 'Start the release that belongs to the database.'),
      ],
      isThere: false,
    };
  }
}

async function examineContents(config: Config, url: string): Promise<Finding[]> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc doctor' });
  try {
    const lineage = await examineLineage(config, database);
    return [
      await examineKeys(config, database),
      lineage,
      // Where no node works, it says why.
      ...(lineage.state === 'good' ? await examineWorkers(database) : []),
      ...(await examineProviders(config, database)),
    ];
  } finally {
    await database.close();
  }
}

async function examineKeys(config: Config, database: Database): Promise<Finding> {
  try {
    const vault = createVault(await masterKeysOf(config, database, { make: false }));
    const fault = await findKeyFault(database, vault, sealedColumns);
    if (fault === undefined) return good('master keys', 'they open what the database holds');
    return faulty(
      'master keys',
      fault,
      'Without the right key no credential opens: look for it where your secrets are kept.',
    );
  } catch (error) {
    return faulty(
      'master keys',
      (error as Error).message,
      'Put the keys back that the database was sealed with.',
    );
  }
}

async function examineLineage({ failoverMs }: Config, database: Database): Promise<Finding> {
  const verdict = judgeLineage(await readLineageOf(database), { failoverMs });
  if ('recovering' in verdict)
    return warning(
      'restore',
      'the server is in recovery: whether the database was restored is not known yet',
      'Promote it; a node that starts waits for that.',
    );
  if (!('held' in verdict)) return good('restore', 'the database is the one that svc worked with last');
  return faulty(
    'restore',
    `no node works: ${verdict.held}`,
    'svc restore resume, once nothing else works with a copy of it (docs/operating.md, Restore).',
  );
}

/** Workers look at new work at once. */
const lateSeconds = 30;

/** Whether anybody does what was accepted. */
async function examineWorkers(database: Database): Promise<Finding[]> {
  const seconds = await unseenSeconds(database);
  if (seconds === undefined || seconds < lateSeconds) return [];
  return [
    warning(
      'workers',
      `what was accepted ${Math.round(seconds)} s ago has been looked at by no worker`,
      'Start one: svc server worker, or svc server all. If one runs, its log tells why it does nothing.',
    ),
  ];
}

/** Whether the providers that customers are connected with can be reached from here. */
async function examineProviders(config: Config, database: Database): Promise<Finding[]> {
  const catalog = loadCatalog({ directory: config.providersDir, origins: config.providerOrigins });
  const egress = createEgress({
    allow: config.egressAllow,
    connectTimeoutMs: config.limits.connectMs,
    ...(config.outboundProxy ? { outboundProxy: config.outboundProxy } : {}),
    ...(config.extraCa ? { extraCa: config.extraCa } : {}),
  });
  try {
    const connected = await connectedProviders(database);
    return await Promise.all(
      connected.flatMap(({ provider: name }) => {
        const origin = URL.parse(catalog.find(name)?.baseURL ?? '')?.origin;
        // One whose host is another for each customer cannot be asked here.
        return origin === undefined || origin.includes('{') ? [] : [examineProvider(egress, name, origin)];
      }),
    );
  } finally {
    await egress.close();
  }
}

async function examineProvider(
  egress: ReturnType<typeof createEgress>,
  name: string,
  origin: string,
): Promise<Finding> {
  const result = await sendHttp(egress, { method: 'GET', url: `${origin}/` }, { timeoutMs: 10_000 });
  if ('answer' in result || result.fault.kind === 'tooLarge')
    return good('egress', `${name} answers at ${origin}`);
  const remedy =
    'Let svc out to it: firewall, name server, SVC_OUTBOUND_PROXY, SVC_EXTRA_CA, SVC_EGRESS_ALLOW.';
  return faulty('egress', `${name} cannot be reached at ${origin}: ${result.fault.message}`, remedy);
}

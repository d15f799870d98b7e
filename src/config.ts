import { resolve } from 'node:path';
import { proxyLimits } from './actions/proxy/index.ts';
import { writeLimits } from './actions/write/index.ts';
import { contradictions } from './config-contradictions.ts';
import { textOfFile } from './config-file.ts';
import { ConfigError } from './config-error.ts';
import { callLimits } from './connections/index.ts';
import { unknownNames } from './config-names.ts';
import { oidcVariables, peopleLimits } from './people/index.ts';
import { parseAddressRules, type AddressRules } from './kit/http/address.ts';
import { parseTrustedProxies } from './kit/http/caller-address.ts';
import { streamLimits } from './events/index.ts';
import type { Limits } from './kit/ground.ts';
import {
  flag,
  httpUrl,
  integer,
  list,
  oneOf,
  optional,
  origins,
  postgresUrl,
  text,
  variable,
  type ValuesOf,
  type Variable,
} from './kit/variable.ts';
import { partsOfGiven } from './projects/index.ts';
import { isWebOrigin } from './kit/web-origin.ts';
import { parseMasterKeys, type MasterKey } from './kit/vault.ts';

const limits = {
  connectMs: variable({
    name: 'SVC_CONNECT_MS',
    default: '10000',
    read: integer(100, 60_000),
    about: 'The longest that connecting to a provider may take, in milliseconds.',
  }),
  ...callLimits,
  ...writeLimits,
  ...proxyLimits,
  ...peopleLimits,
};

export const variables = {
  databaseUrl: variable({
    name: 'DATABASE_URL',
    secret: true,
    ifEmpty: 'is set and empty; name a database, or unset it for an embedded one',
    read: postgresUrl,
    about:
      'A PostgreSQL 15 or later, such as `postgres://user:password@host/name`. Its presence is production mode. Without it the process runs a PostgreSQL of its own under `SVC_DATA_DIR`. Set and empty it ends the start.',
  }),
  databaseDirectUrl: variable({
    name: 'SVC_DATABASE_DIRECT_URL',
    secret: true,
    read: postgresUrl,
    about:
      'Where the same database is reached without a pooler. Needed when `DATABASE_URL` leads to one that hands out sessions by the transaction (see [operating](operating.md)): listening and migrations go here.',
  }),
  dataDir: variable({
    name: 'SVC_DATA_DIR',
    default: '.svc',
    read: (value) => resolve(text(value)),
    about: 'Where the embedded database and the generated key file are kept.',
  }),
  poolSize: variable({
    name: 'SVC_DATABASE_POOL',
    default: '20',
    read: integer(2, 500),
    about:
      'Connections of this process to the database for its work at the most; one more listens for notices, and short ones make partitions.',
  }),
  host: variable({
    name: 'SVC_HOST',
    default: '127.0.0.1',
    read: text,
    about: 'The address that the surfaces listen on; `0.0.0.0` for all.',
  }),
  port: variable({
    name: 'SVC_PORT',
    default: '4000',
    read: integer(0, 65_535),
    about:
      'The port of the management, write and read surfaces, the callback, the documentation and the health checks; 0 takes a free one.',
  }),
  proxyPort: variable({
    name: 'SVC_PROXY_PORT',
    default: '4001',
    read: integer(0, 65_535),
    about: 'The port of the proxy; 0 takes a free one.',
  }),
  healthPort: variable({
    name: 'SVC_HEALTH_PORT',
    read: (value): number | undefined => (value === undefined ? undefined : integer(0, 65_535)(value)),
    about:
      'A port for `/healthz`, `/readyz` and `/metrics` alone, in every role. `all` and `api` answer them at `SVC_PORT`, too; `worker` has no other listener and takes 4002 by default, or a free port where that is taken.',
  }),
  publicUrl: variable({
    name: 'SVC_PUBLIC_URL',
    read: httpUrl,
    about:
      'Where browsers and callers reach this service, such as `https://svc.example.com`, the same on every node: the OAuth redirect URI and the links in events and deliveries are built from it. With HTTPS the cookie that ties an OAuth flow to a browser has the prefix `__Host-`; without, as in development, browsers would refuse that. Default: `http://SVC_HOST:SVC_PORT`.',
  }),
  trustedProxies: variable({
    name: 'SVC_TRUSTED_PROXIES',
    default: '',
    read: (value) => {
      parseTrustedProxies(list(value));
      return list(value);
    },
    about:
      'Addresses or CIDR ranges of proxies in front, whose X-Forwarded-For is believed: the caller is the last of its addresses, with or without a port, that is none of these. What is no address there ends the chain: the caller is then the proxy that said it.',
  }),
  outboundProxy: variable({
    name: 'SVC_OUTBOUND_PROXY',
    secret: true,
    read: httpUrl,
    about:
      'A forward proxy for every outgoing call but those to the database of svc and to a collector of traces: `http://` or `https://`, with a user and password where it wants them ([operating.md](operating.md)).',
  }),
  extraCa: variable({
    name: 'SVC_EXTRA_CA',
    read: optional,
    about:
      'PEM certificates of authorities to trust besides the built-in ones; usually given as `SVC_EXTRA_CA_FILE`.',
  }),
  egressAllow: variable<AddressRules>({
    name: 'SVC_EGRESS_ALLOW',
    default: '',
    read: (value) => parseAddressRules(list(value)),
    about:
      'Addresses that may be called although they are not public: `host`, `host:port` or CIDR ranges, separated by commas. A host that is named may be reached without TLS by a destination, too; one that is only in a range may not.',
  }),
  providerOrigins: variable({
    name: 'SVC_PROVIDER_ORIGINS',
    default: '',
    read: origins,
    about:
      'Other origins for providers, such as `hubspot=http://127.0.0.1:4010`: for sandboxes and the simulators.',
  }),
  providersDir: variable({
    name: 'SVC_PROVIDERS_DIR',
    read: (value) => (value === undefined ? undefined : resolve(value)),
    about:
      'A folder of provider files beside those of the catalogue, usually next to `svc.yaml` (see [provider files](providers/files.md)). Whoever writes there decides where credentials are sent.',
  }),
  returnUrls: variable({
    name: 'SVC_RETURN_URLS',
    default: '',
    read: list,
    about: 'Origins to which a customer may be sent back after connecting, separated by commas.',
  }),
  allowedOrigins: variable({
    name: 'SVC_ALLOWED_ORIGINS',
    default: '',
    read: (value) => {
      const wrong = list(value).find((origin) => !isWebOrigin(origin));
      if (wrong === undefined) return list(value);
      throw new Error(`"${wrong}" is not an origin such as https://app.example.com`);
    },
    about:
      'Origins whose pages may call the management surface from a browser, for every project, separated by commas; each project has its own list besides (`allowedOrigins`).',
  }),
  encryptionKeys: variable<MasterKey[] | undefined>({
    name: 'SVC_ENCRYPTION_KEYS',
    secret: true,
    read: (value) => (value === undefined ? undefined : parseMasterKeys(value)),
    about:
      'Master keys for credentials at rest: `id:base64,id:base64`, 32 bytes each; the first seals, all open. Required in production mode; otherwise generated into `SVC_DATA_DIR/encryption-keys`.',
  }),
  bootstrapApiKey: variable({
    name: 'SVC_BOOTSTRAP_API_KEY',
    secret: true,
    read: (value) => {
      if (value !== undefined) partsOfGiven(value);
      return value;
    },
    about:
      'The first API key, instead of a generated one, when the database is empty: 32 to 512 printable characters.',
  }),
  logLevel: variable({
    name: 'SVC_LOG_LEVEL',
    default: 'info',
    read: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    about: 'The least severe level that is logged.',
  }),
  logFormat: variable({
    name: 'SVC_LOG_FORMAT',
    default: 'auto',
    read: (value) => {
      const format = oneOf('auto', 'json', 'text')(value);
      return format === 'auto' ? undefined : format;
    },
    about: 'The log as `json`, or as `text` to be read; `auto`: text where a terminal shows it, else JSON.',
  }),
  logRequests: variable({
    name: 'SVC_LOG_REQUESTS',
    default: 'all',
    read: oneOf('all', 'problems'),
    about:
      'Which requests have a line in the log (level `info`): `all`, or only those that are answered by a problem.',
  }),
  metricsPublic: variable({
    name: 'SVC_METRICS_PUBLIC',
    default: 'false',
    read: flag,
    about: 'Whether /metrics answers without an API key.',
  }),
  otlpEndpoint: variable({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    read: httpUrl,
    about:
      'Where traces are sent, such as `http://collector:4318`. Without it nothing is traced. The other `OTEL_*` variables of the OpenTelemetry SDK for traces hold, too ([operating](operating.md#traces)).',
  }),
  otlpProtocol: variable({
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    default: 'http/protobuf',
    read: oneOf('http/protobuf'),
    about: 'How traces are sent. Collectors take this one, as a rule at port 4318.',
  }),
  traceContextTo: variable({
    name: 'SVC_TRACE_CONTEXT_TO',
    default: '',
    read: list,
    about:
      'Hosts of providers and destinations that get the header `traceparent`, so that their own spans join the trace: `host` or `host:port`, separated by commas; `*` for all. To the others it does not go, and while svc traces, neither does one of a proxied call.',
  }),
  authFailures: variable({
    name: 'SVC_AUTH_FAILURES_PER_MINUTE',
    default: '300',
    read: integer(1, 1_000_000),
    about:
      'How many requests with wrong credentials from one address are answered 401 within a minute; more are answered 429. Valid credentials are not affected.',
  }),
  rateLimitPerKey: variable({
    name: 'SVC_RATE_LIMIT_PER_KEY',
    read: (value): number | undefined => (value === undefined ? undefined : integer(1, 100_000)(value)),
    about:
      'How many requests a second each API key may make, over all nodes and surfaces, with as many at once after a second of rest; more are answered 429. The front-end tokens of a group count together. Without it there is no limit. All nodes must have the same.',
  }),
  auditKeepDays: variable({
    name: 'SVC_AUDIT_KEEP_DAYS',
    default: '400',
    read: integer(1, 36_500),
    about: 'How long the audit log is kept, in days; it goes by whole months.',
  }),
  operationKeepDays: variable({
    name: 'SVC_OPERATION_KEEP_DAYS',
    default: '400',
    read: integer(31, 36_500),
    about:
      'How long operations with their records, attempts and logs are kept, in days; they go by whole months. A month of which something is unfinished stays.',
  }),
  eventKeepDays: variable({
    name: 'SVC_EVENT_KEEP_DAYS',
    default: '30',
    read: integer(1, 3_650),
    about: 'How long events are kept, in days.',
  }),
  proxyLogKeepDays: variable({
    name: 'SVC_PROXY_LOG_KEEP_DAYS',
    default: '7',
    read: integer(1, 365),
    about: 'How long the log of proxied calls is kept, in days.',
  }),
  exchangeKeepDays: variable({
    name: 'SVC_EXCHANGE_KEEP_DAYS',
    default: '7',
    read: integer(0, 365),
    about:
      'How long it is kept what providers were sent for writes and reads and what they answered, in days. 0: it is not kept at all.',
  }),
  readFailures: variable({
    name: 'SVC_READ_FAILURES_UNTIL_PAUSE',
    default: '10',
    read: integer(1, 1_000_000),
    about:
      'After so many scheduled reads of an object that failed one after the other its schedule is paused, and an event tells. Failures of credentials do not count: reading goes on when the customer connects again.',
  }),
  readBulkFrom: variable({
    name: 'SVC_READ_BULK_FROM',
    default: '10000',
    read: integer(1, 1_000_000_000),
    about: 'From so many records on a provider’s way for many is taken, such as Salesforce’s Bulk API.',
  }),
  messageKeepDays: variable({
    name: 'SVC_MESSAGE_KEEP_DAYS',
    default: '30',
    read: integer(1, 365),
    about:
      'How long messages and what became of them are kept, in days. What was not delivered by then is dropped.',
  }),
  backfillReserve: variable({
    name: 'SVC_BACKFILL_RESERVE_PERCENT',
    default: '20',
    read: integer(0, 100),
    about:
      'Of the calls that a provider grants an account in a day, the share that the reading of history leaves to everything else. It waits while less is left, and looks again every quarter of an hour.',
  }),
  ...oidcVariables,
  ...limits,
  ...streamLimits,
  leaseMs: variable({
    name: 'SVC_LEASE_MS',
    default: '60000',
    read: integer(1_000, 600_000),
    about: 'How long a worker holds a lane before others may take it over, in milliseconds.',
  }),
  failoverMs: variable({
    name: 'SVC_FAILOVER_MS',
    default: '60000',
    read: integer(0, 86_400_000),
    about:
      'For how long after the last sign of a node a database that was recovered counts as a replica that was promoted, in milliseconds. Later it counts as restored from a backup, and is held (see [operating](operating.md)).',
  }),
  drainMs: variable({
    name: 'SVC_DRAIN_MS',
    default: '1000',
    read: integer(0, 600_000),
    about:
      'How long a stopping process goes on to serve while `/readyz` says 503, in milliseconds: longer than a load balancer takes to notice. Before `SVC_SHUTDOWN_MS`.',
  }),
  shutdownMs: variable({
    name: 'SVC_SHUTDOWN_MS',
    default: '25000',
    read: integer(0, 600_000),
    about: 'How long a stopping process waits for what is in flight, in milliseconds.',
  }),
};

type Values = ValuesOf<typeof variables>;

export interface Config extends Omit<Values, keyof Limits> {
  production: boolean;
  limits: Limits;
}

/** Reads and checks the environment. A secret may also stand in the file that `NAME_FILE` names. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const issues: string[] = [
    ...unknownNames(
      env,
      Object.values(variables).map(({ name }) => name),
    ),
  ];
  const values = {} as Record<string, unknown>;
  for (const [key, spec] of Object.entries(variables) as [string, Variable<unknown>][]) {
    try {
      values[key] = spec.read(valueOf(env, spec));
    } catch (error) {
      issues.push(`${spec.name} ${(error as Error).message}`);
    }
  }
  const read = values as unknown as Values;
  if (issues.length === 0) issues.push(...contradictions(read));
  if (issues.length > 0) throw new ConfigError(issues);
  const entries = Object.entries(read);
  const isLimit = ([key]: [string, unknown]): boolean => Object.hasOwn(limits, key);
  return {
    ...(Object.fromEntries(entries.filter((entry) => !isLimit(entry))) as Omit<Values, keyof Limits>),
    production: read.databaseUrl !== undefined,
    limits: Object.fromEntries(entries.filter(isLimit)) as unknown as Limits,
  };
}

/** The address for browsers and callers; unless it is given, that of this node. */
export function publicUrlOf({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? `http://${hostInUrl(host)}:${port}`;
}

export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function valueOf(env: NodeJS.ProcessEnv, spec: Variable<unknown>): string | undefined {
  const file = env[`${spec.name}_FILE`];
  const direct = env[spec.name];
  if (spec.ifEmpty !== undefined && isEmpty(file ?? direct) && isEmpty(direct ?? file))
    throw new Error(spec.ifEmpty);
  if (file && direct) throw new Error(`and ${spec.name}_FILE are both set; set one of them`);
  if (file) return textOfFile(file, `${spec.name}_FILE`);
  return direct === undefined || direct === '' ? spec.default : direct;
}

function isEmpty(given: string | undefined): boolean {
  return given?.trim() === '';
}

/** The configuration in force as it may be shown: secrets only as set or not. */
export function describeConfig(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.values(variables as Record<string, Variable<unknown>>).map((spec) => {
      const given = env[spec.name] ?? env[`${spec.name}_FILE`];
      if (spec.secret) return [spec.name, given ? '[set]' : '[not set]'];
      return [spec.name, given ?? spec.default ?? '[not set]'];
    }),
  );
}

import type { ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHubspot } from '../simulator/hubspot/index.ts';
import { startSalesforce } from '../simulator/salesforce/index.ts';
import { startChild, untilReady, type Child } from '../scripts/child.ts';
import { generateApiKey } from '../src/projects/keys/key-form.ts';
import { freePort } from './free-port.ts';
import { findPgbouncer, startPgbouncer, type Pooler } from './pgbouncer.ts';

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

export interface CallOptions {
  /** Another key than the first one; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
}

/** The product as a process of its own, on a real database, with the simulated providers beside it. */
export interface Platform {
  base: string;
  proxy: string;
  apiKey: string;
  projectId: string;
  hubspot: string;
  salesforce: string;
  /** `path` is under the management surface (`/v1`) unless it names another. A body that is text is sent as it is. */
  call<Body = Record<string, never>>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<Answer<Body>>;
  /** What the process wrote to its log and terminal. */
  said(): string;
  process(): ChildProcess;
  /** Ends the process, unless it ended by itself, and starts it again on the same database and ports; `env` holds until the next. */
  restart(signal?: NodeJS.Signals, env?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

export interface PlatformOptions {
  /** Absent: the process runs its own embedded database. */
  databaseUrl?: string;
  /** Its database is reached by way of PgBouncer; with TEST_POOLER set, that of every platform is. */
  pooled?: boolean;
  env?: Record<string, string>;
  /** Further providers by the origin that stands for them. */
  origins?: Record<string, string>;
  /** Another node on the same database and simulators as this one. */
  beside?: Platform;
  records?: number;
}

const masterKey = `t1:${Buffer.alloc(32, 7).toString('base64')}`;

export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const sims = options.beside ? undefined : await startSimulators(options.records ?? 50);
  const hubspot = options.beside?.hubspot ?? sims?.hubspot.url ?? '';
  const salesforce = options.beside?.salesforce ?? sims?.salesforce.url ?? '';
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-'));
  const pooler = await poolerFor(options);
  // As root the embedded database runs as another user, who must get there.
  await chmod(dataDir, 0o755);
  const [port, proxyPort] = [await freePort(), await freePort()];
  const base = `http://127.0.0.1:${port}`;
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    ...databaseEnv(options.databaseUrl, pooler),
    SVC_BOOTSTRAP_API_KEY: options.beside?.apiKey ?? generateApiKey().key,
    SVC_DATA_DIR: dataDir,
    SVC_PORT: String(port),
    SVC_PROXY_PORT: String(proxyPort),
    SVC_PUBLIC_URL: base,
    SVC_LOG_LEVEL: 'warn',
    SVC_DRAIN_MS: '0',
    SVC_PROVIDER_ORIGINS: originsOf({ hubspot, salesforce, ...options.origins }),
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_RETURN_URLS: 'http://app.example',
    ...options.env,
  };
  const lives: Child[] = [];
  const said = (): string => lives.map((life) => life.said()).join('');
  const closeAround = async (): Promise<void> => {
    await Promise.all([sims?.hubspot.close(), sims?.salesforce.close(), pooler?.stop()]);
    await rm(dataDir, { recursive: true, force: true });
  };
  let child = await launch().catch(async (error: unknown) => {
    await closeAround();
    throw error;
  });

  async function launch(extra: Record<string, string> = {}): Promise<Child> {
    const started = startChild(['src/main.ts'], { env: { ...env, ...extra } });
    lives.push(started);
    try {
      await untilReady(base, started);
    } catch (error) {
      await started.end('SIGKILL');
      throw error;
    }
    return started;
  }

  const apiKey = env['SVC_BOOTSTRAP_API_KEY'] ?? '';
  const call = caller(base, apiKey, said);
  const projects = await call<{ id: string }[]>('GET', '/projects');
  return {
    base,
    proxy: `http://127.0.0.1:${proxyPort}`,
    apiKey,
    projectId: projects.body[0]?.id ?? '',
    hubspot,
    salesforce,
    call,
    said,
    process: () => child.process,
    restart: async (signal = 'SIGKILL', extra = {}) => {
      await child.end(signal);
      child = await launch(extra);
    },
    stop: async () => {
      await child.end('SIGTERM', 10_000);
      await closeAround();
    },
  };
}

async function poolerFor({ databaseUrl, pooled }: PlatformOptions): Promise<Pooler | undefined> {
  if (!databaseUrl || !(pooled ?? process.env['TEST_POOLER'])) return undefined;
  const program = await findPgbouncer();
  if (!program) throw new Error('pgbouncer is not installed');
  return startPgbouncer(program, databaseUrl);
}

function databaseEnv(url: string | undefined, pooler: Pooler | undefined): Record<string, string> {
  if (!url) return {};
  const urls: Record<string, string> = pooler
    ? { DATABASE_URL: pooler.through(url), SVC_DATABASE_DIRECT_URL: url }
    : { DATABASE_URL: url };
  return { ...urls, SVC_ENCRYPTION_KEYS: masterKey };
}

async function startSimulators(records: number) {
  const [hubspot, salesforce] = await Promise.all([startHubspot({ records }), startSalesforce({ records })]);
  return { hubspot, salesforce };
}

function caller(base: string, apiKey: string, said: () => string): Platform['call'] {
  return async <Body>(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Answer<Body>> => {
    const url =
      base +
      (/^\/(v1|write|read|search|healthz|readyz|metrics|docs|openapi|callbacks)\b/.test(path)
        ? path
        : `/v1${path}`);
    const key = options.key === undefined ? apiKey : options.key;
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Error(`${method} ${path} was not answered; the process said last: ${said().slice(-2_000)}`, {
        cause: error,
      });
    });
    return readAnswer<Body>(answer);
  };
}

/** The whole of an answer; JSON where it says so. */
export async function readAnswer<Body>(answer: Response): Promise<Answer<Body>> {
  const { status, headers } = answer;
  const text = isStream(headers) ? await beginningOf(answer) : await answer.text();
  const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '');
  return { status, headers, text, body: (isJson && text !== '' ? JSON.parse(text) : text) as Body };
}

function isStream(headers: Headers): boolean {
  return (headers.get('content-type') ?? '').startsWith('text/event-stream');
}

/** Of an answer that has no end. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value as Uint8Array | undefined);
}

function originsOf(origins: Record<string, string>): string {
  return Object.entries(origins)
    .map(([name, origin]) => `${name}=${origin}`)
    .join(',');
}

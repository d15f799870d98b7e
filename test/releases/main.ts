/**
 * `npm run test:releases -- [--from COMMIT] [--seconds N] [--json]`: nodes of the former release and of this checkout, api and worker,
 * side by side on one database under load, behind nginx: forward, back and forward again. Exits with 1 unless no caller met an
 * error, nothing that was accepted is lost and nothing was sent twice. Needs nginx.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findNginx, startNginx } from '../../bench/nginx.ts';
import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { generateApiKey } from '../../src/projects/keys/key-form.ts';
import { simulator } from '../customer.ts';
import { createProviderLedger } from '../faults/suite/provider-ledger.ts';
import { openServer, platformAt, repository, startSimulator } from '../faults/suite/processes.ts';
import { drain, readAll, readRecords } from '../faults/suite/run.ts';
import { usual, type Settings } from '../faults/suite/settings.ts';
import { furnish } from '../faults/suite/stage.ts';
import { describeMarker, judge, type Evidence } from '../faults/suite/verdict.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { Fleet } from './fleet.ts';
import { openFormer } from './former.ts';
import { startLoad, type Load, type Surface } from './load.ts';

const { values } = parseArgs({
  options: { from: { type: 'string' }, seconds: { type: 'string' }, json: { type: 'boolean' } },
});
/** Between two replacements of all nodes. */
const restMs = Number(values.seconds ?? 5) * 1_000;
const deals = 50;
const settings: Settings = {
  ...usual,
  seed: Math.floor(Math.random() * 1e6),
  writes: 2_000,
  callers: 4,
  pauseMs: 100,
  faultRate: 0,
};
const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    write: { objects: [{ objectName: contacts }, { objectName: companies }] }
    read: { objects: [{ objectName: deals, destination: inbox, enabled: always, schedule: '0 3 * * *', requiredFields: [{ fieldName: dealname }] }] }
    proxy: { enabled: true }
  - name: salesforce-crm
    provider: salesforce
    write:
      objects: [{ objectName: Contact }, { objectName: Account }, { objectName: Lead }, { objectName: UpsertTable__c }]
`;

interface Report {
  accepted: number;
  records: number;
  proxied: number;
  listed: number;
  reads: number;
  migrated: string[];
  /** Each must be empty. */
  violations: Record<string, string[]>;
  seconds: number;
  holds: boolean;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

interface Scene {
  folder: string;
  fleet: Fleet;
  database: Database;
  receiver: Receiver;
  hubspot: string;
  salesforce: string;
  surface: Surface;
}

/** The nodes are those of the former release. */
async function openScene(closing: (() => Promise<unknown>)[]): Promise<Scene> {
  const nginx = findNginx();
  if (nginx === undefined) throw new Error('nginx is not installed');
  const former = await openFormer(values.from);
  closing.push(() => former.remove());
  const folder = await mkdtemp(join(tmpdir(), 'svc-releases-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  // As root the embedded database runs as another user, who must get there.
  await Promise.all([folder, former.folder].map((each) => chmod(each, 0o755)));
  const server = await openServer(folder, closing);
  const hubspot = await startSimulator('hubspot', settings, closing);
  const salesforce = await startSimulator('salesforce', settings, closing);
  const apiKey = generateApiKey().key;
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: server.url,
    SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}`,
    SVC_BOOTSTRAP_API_KEY: apiKey,
    SVC_LOG_LEVEL: 'error',
    SVC_PROVIDER_ORIGINS: `hubspot=${hubspot},salesforce=${salesforce}`,
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_RETURN_URLS: 'http://app.example',
  };
  const fleet = await Fleet.open({ folders: { former: former.folder, present: repository }, folder, env });
  closing.push(() => fleet.close());
  const fronts = await Promise.all([
    startNginx(nginx, ...fleet.upstreams('api')),
    startNginx(nginx, ...fleet.upstreams('proxy')),
  ]);
  closing.push(() => Promise.all(fronts.map((front) => front.close())));
  const [api = '', proxy = ''] = fronts.map(({ port }) => `http://127.0.0.1:${port}`);
  env['SVC_PUBLIC_URL'] = api;
  await fleet.replaceAll('former', say);
  const database = openDatabase({ url: server.url, poolSize: 4, applicationName: 'svc releases' });
  closing.push(() => database.close());
  const receiver = await startReceiver();
  closing.push(() => receiver.close());
  const furnished = await furnishAll(api, { hubspot, salesforce, apiKey }, receiver);
  return {
    folder,
    fleet,
    database,
    receiver,
    hubspot,
    salesforce,
    surface: { api, proxy, apiKey, ...furnished },
  };
}

async function furnishAll(
  api: string,
  around: { hubspot: string; salesforce: string; apiKey: string },
  receiver: Receiver,
): Promise<Omit<Surface, 'api' | 'proxy' | 'apiKey'>> {
  const platform = await platformAt(api, around.apiKey, around);
  const inbox = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } };
  await platform.call('POST', `/projects/${platform.projectId}/destinations`, inbox);
  const records = Array.from({ length: deals }, (_, at) => ({ properties: { dealname: `deal ${at}` } }));
  await simulator(around.hubspot, 'POST', '/data', { object: 'deals', records });
  const { projectId, seeded, customers } = await furnish(settings, api, around, manifest);
  const [customer] = customers;
  if (!customer) throw new Error('nobody is a customer');
  return { projectId, seeded, customer };
}

async function run(closing: (() => Promise<unknown>)[]): Promise<Report> {
  const startedAt = performance.now();
  const scene = await openScene(closing);
  const { folder, fleet, database, hubspot, salesforce, surface } = scene;
  const before = await journal(database);
  const providers = [createProviderLedger(hubspot), createProviderLedger(salesforce)];
  const load = startLoad(surface, settings, join(folder, 'accepted.jsonl'));
  for (const release of ['present', 'former', 'present'] as const) {
    await sleep(restMs);
    await fleet.replaceAll(release, say);
    await readAll(providers);
    say(
      `${load.client.accepted} writes accepted, ${load.counts.proxied} calls proxied, ${load.reads.length} reads`,
    );
  }
  await sleep(restMs);
  await load.end();
  const left = await drain(scene, say);
  const evidence = {
    records: await readRecords(database),
    accepted: load.client.read(),
    givenUp: load.client.givenUp,
    lostAnswers: new Set<string>(),
    disturbances: [],
    answerMs: settings.providerCallMs,
    left: left.length,
  };
  load.client.close();
  await readAll(providers);
  const violations = {
    ...judgeWrites({
      ...evidence,
      effects: providers.flatMap(({ effects }) => effects),
      asked: new Map(providers.flatMap(({ asked }) => Array.from(asked))),
    }),
    refused: Object.entries(load.errors).map(([what, count]) => `${count} × ${what}`),
    logged: fleet.errors(),
    ...(await judgeReads(load, scene)),
  };
  return {
    accepted: evidence.accepted.length,
    records: evidence.accepted.flatMap(({ markers }) => markers).length,
    ...load.counts,
    reads: load.reads.length,
    migrated: (await journal(database)).filter((name) => !before.includes(name)),
    violations,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    holds: Object.values(violations).every((found) => found.length === 0),
  };
}

function judgeWrites(evidence: Evidence): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(judge(evidence).violations).map(([name, markers]) => [
      name,
      markers.map((marker) => describeMarker(marker, evidence)),
    ]),
  );
}

async function journal(database: Database): Promise<string[]> {
  return (await database.raw('SELECT name FROM migrations ORDER BY version')).map(({ name }) => String(name));
}

/** Each read delivers each record, no message comes twice. */
async function judgeReads(
  { reads }: Load,
  { database, receiver: { received } }: Scene,
): Promise<{ readsFailed: string[]; readsShort: string[]; deliveredTwice: string[] }> {
  const rows = await database.raw('SELECT id, status FROM operation WHERE id = ANY ($1)', [reads]);
  const statuses = new Map(rows.map(({ id, status }) => [String(id), String(status)]));
  const arrived = Map.groupBy(received, ({ body }) => body.operationId);
  const ids = received.map(({ headers }) => String(headers['webhook-id']));
  return {
    readsFailed: reads
      .filter((id) => statuses.get(id) !== 'success')
      .map((id) => `${id} ${statuses.get(id)}`),
    readsShort: reads.flatMap((id) => {
      const found = new Set(
        (arrived.get(id) ?? []).flatMap(({ body }) => body.result ?? []).map(({ raw }) => raw.id),
      );
      return found.size === deals ? [] : [`${id} ${found.size} of ${deals}`];
    }),
    deliveredTwice: ids.filter((id, at) => ids.indexOf(id) !== at),
  };
}

function tell({ violations, migrated, holds, ...counts }: Report): void {
  const lines = [
    ...Object.entries(counts).map(([name, count]) => `  ${name.padEnd(20)}${String(count).padStart(9)}`),
    `  migrated meanwhile: ${migrated.join(', ') || 'nothing'}`,
    ...Object.entries(violations).map(
      ([name, found]) => `  ${name.padEnd(20)}${String(found.length).padStart(9)}`,
    ),
    ...Object.entries(violations).flatMap(([name, found]) =>
      found.slice(0, 5).map((one) => `  ${name}: ${one}`),
    ),
    holds ? 'everything holds' : 'SOMETHING DOES NOT HOLD',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main(): Promise<number> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.splice(0).toReversed()) await step().catch(() => undefined);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void close().then(() => process.exit(1)));
  try {
    const report = await run(closing);
    if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else tell(report);
    return report.holds ? 0 : 1;
  } finally {
    await close();
  }
}

process.exit(await main());

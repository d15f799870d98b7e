import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startChild, untilReady, type Child } from '../../scripts/child.ts';
import { deploy, fault, install, requestsOf, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { startPlatform, type Platform } from '../platform.ts';

const waitingWrites = 37;

describe('test/journeys/metrics', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  let worker: Child;
  let workerUrl: string;
  let healthUrl: string;
  let page: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    healthUrl = `http://127.0.0.1:${await freePort()}`;
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_HEALTH_PORT: new URL(healthUrl).port },
    });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme');
    workerUrl = `http://127.0.0.1:${await freePort()}`;
    await startWorker();
    first = await scrape(workerUrl);
    page = await readFile('docs/operating.md', 'utf8');
  });
  afterEach(() => simulator(platform.hubspot, 'DELETE', '/faults'));
  afterAll(async () => {
    await worker?.end('SIGKILL');
    await platform?.stop();
    await test?.drop();
  });

  /** The first scrape of a process reads all that is read from time to time. */
  let first: Map<string, number>;

  async function startWorker(): Promise<void> {
    worker = startChild(['src/main.ts', 'worker'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: test.url,
        SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}`,
        SVC_HEALTH_PORT: new URL(workerUrl).port,
        SVC_PROVIDER_ORIGINS: `hubspot=${platform.hubspot}`,
        SVC_EGRESS_ALLOW: '127.0.0.1',
      },
    });
    await untilReady(workerUrl, worker);
  }

  /** Every sample of a scrape, by its name with its labels in their order. */
  async function scrape(base: string, query = ''): Promise<Map<string, number>> {
    const answer = await fetch(`${base}/metrics${query}`, { headers: { 'x-api-key': platform.apiKey } });
    expect(answer.status).toBe(200);
    const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line): [string, number] => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
    );
  }

  /** Of the samples of both processes whose labels are these among others. */
  async function samples(name: string, labels: Record<string, string>): Promise<number[]> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const both = await Promise.all([platform.base, workerUrl].map((base) => scrape(base)));
    return both.flatMap((one) =>
      [...one].flatMap(([sample, value]) =>
        sample.split('{', 1)[0] === name && wanted.every((label) => sample.includes(label)) ? [value] : [],
      ),
    );
  }
  const sum = async (name: string, labels: Record<string, string>) =>
    (await samples(name, labels)).reduce((total, value) => total + value, 0);
  const most = async (name: string, labels: Record<string, string>) =>
    Math.max(0, ...(await samples(name, labels)));

  const write = (email: string, more: Record<string, unknown> = {}) =>
    acme.write('contacts', { type: 'create', mode: 'asynchronous', record: { email }, ...more });

  it('every role answers for its health and its metrics at a port of its own', async () => {
    for (const base of [platform.base, healthUrl, workerUrl]) {
      expect((await fetch(`${base}/healthz`)).status).toBe(200);
      expect((await fetch(`${base}/readyz`)).status).toBe(200);
      expect((await fetch(`${base}/metrics`)).status).toBe(401);
      expect((await scrape(base)).get('process_start_time_seconds')).toBeGreaterThan(0);
    }
    expect((await fetch(`${workerUrl}/v1/projects`)).status).toBe(404);
    expect((await fetch(`${workerUrl}/metrics?by=group`)).status).toBe(400);
  });

  it('what a scrape asks the database itself is not counted as waiting', () => {
    expect(first.get('svc_storage_bytes{kind="operations"}')).toBeDefined();
    expect(first.get('svc_database_waiting')).toBe(0);
    expect(first.get('svc_database_away_seconds')).toBe(0);
  });

  it('a provider that answers 503: the figures of the alert are those of the ledger and of the provider', async () => {
    const before = (await requestsOf(platform.hubspot)).at(-1)?.seq ?? 0;
    await fault(platform.hubspot, {
      path: '/contacts',
      times: 100_000,
      fault: { kind: 'status', status: 503 },
    });
    const startedAt = Date.now();
    const taken = await Promise.all(
      Array.from({ length: waitingWrites }, (_, n) => write(`waits${n}@example.com`)),
    );
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 200));
    const hubspot = { kind: 'write', provider: 'hubspot' };
    // A create that was answered 503 may have been done.
    const failing = { ...hubspot, category: 'unknownOutcome' };
    await expect
      .poll(() => sum('svc_attempts_total', failing), { timeout: 20_000 })
      .toBeGreaterThanOrEqual(waitingWrites);
    // All are between two attempts for a moment, sooner or later.
    await expect.poll(() => most('svc_work_waiting', hubspot), { timeout: 25_000 }).toBe(waitingWrites);
    expect(await sum('svc_attempts_total', { ...hubspot, category: 'none' })).toBe(0);
    const oldest = await most('svc_work_oldest_waiting_seconds', hubspot);
    expect(oldest).toBeGreaterThan(0);
    expect(oldest).toBeLessThanOrEqual((Date.now() - startedAt) / 1000);
    const byConnection = await scrape(workerUrl, '?by=connection');
    const own = `kind="write",provider="hubspot",connection="${acme.connectionId}"`;
    const ofAcme = byConnection.get(`svc_work_waiting{${own}}`) ?? 0;
    expect(ofAcme + (byConnection.get(`svc_work_in_flight{${own}}`) ?? 0)).toBe(waitingWrites);
    const calls = () =>
      sum('svc_provider_call_duration_seconds_count', { provider: 'hubspot', outcome: '5xx' });
    await expect
      .poll(async () => {
        const answered = (await requestsOf(platform.hubspot, before)).filter(({ status }) => status === 503);
        return (await calls()) - answered.length;
      })
      .toBe(0);
    await simulator(platform.hubspot, 'DELETE', '/faults');
    const ended = await Promise.all(taken.map(({ body }) => acme.settled(body.operationId, 60_000)));
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 'success'));
    expect(await sum('svc_attempts_total', { ...hubspot, category: 'none' })).toBe(waitingWrites);
    const attempts = ended.reduce((total, { metadata }) => total + (metadata?.retry?.attempts ?? 0), 0);
    expect(await sum('svc_attempts_total', hubspot)).toBe(attempts);
    await expect.poll(() => sum('svc_work_waiting', hubspot), { timeout: 15_000 }).toBe(0);
  }, 120_000);

  it('what failed for good and what is unknown is counted as dead, by its provider', async () => {
    const dead = (outcome: string) =>
      sum('svc_work_dead_total', { kind: 'write', provider: 'hubspot', outcome });
    const before = await dead('failed');
    await fault(platform.hubspot, {
      path: '/contacts',
      times: 1,
      fault: { kind: 'status', status: 400, body: { category: 'VALIDATION_ERROR', message: 'no' } },
    });
    const refused = await write('refused@example.com');
    expect((await acme.settled(refused.body.operationId)).status).toBe('failure');
    await expect.poll(() => dead('failed')).toBe(before + 1);
    expect(
      await sum('svc_attempts_total', { kind: 'write', provider: 'hubspot', category: 'validation' }),
    ).toBe(1);
  });

  it('every metric that the page names is there, with the labels that it and its alerts use', async () => {
    const both = [...(await scrape(platform.base)).keys(), ...(await scrape(workerUrl)).keys()];
    const rows = [...page.matchAll(/^\| `((?:svc|nodejs)_\w+)` \| ([^|]*)\|/gm)];
    expect(rows.length).toBeGreaterThan(10);
    const registered = await fetch(`${workerUrl}/metrics`, { headers: { 'x-api-key': platform.apiKey } });
    const help = await registered.text();
    for (const [, name = '', labels = ''] of rows) {
      expect(help).toContain(`# TYPE ${name} `);
      for (const [, label = ''] of labels.matchAll(/`(\w+)`/g))
        for (const sample of both.filter((one) => one.split('{', 1)[0] === name))
          expect(sample).toContain(`${label}="`);
    }
    const named = new Set(rows.map(([, name]) => name));
    const own = [...help.matchAll(/^# TYPE (svc_\w+) /gm)].map(([, name]) => name);
    expect(own.filter((name) => !named.has(name))).toEqual([]);
    const files = await Promise.all(
      ['deploy/prometheus/alerts.yaml', 'deploy/grafana/svc.json'].map((path) => readFile(path, 'utf8')),
    );
    const rules = [...(JSON.stringify(parse(files[0] ?? '')).match(/"expr":".*?[^\\]"/g) ?? [])];
    const panels = files[1]?.match(/"expr": ".*"/g) ?? [];
    const text = [...rules, ...panels].join('\n');
    const used = [...text.matchAll(/\b((?:svc|nodejs)_\w+?)(?:_count|_bucket)?(?=[{[) ])/g)];
    expect(used.length).toBeGreaterThan(30);
    for (const [, name] of used) expect(named).toContain(name);
  });
});

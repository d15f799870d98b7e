import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNotified, type Notified } from '../notified.ts';
import { startCollector, type CollectedSpan, type Collector } from '../collector.ts';
import { deploy, install, requestsOf, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { startPlatform, type Platform } from '../platform.ts';

const spanId = '1122334455667788';
const ofWrites = 'aabbccddeeff00112233445566778899';
const ofProxiedCall = '99887766554433221100ffeeddccbbaa';
const traceparentOf = (traceId: string): string => `00-${traceId}-${spanId}-01`;
const server = 2;
const client = 3;

describe('test/journeys/traces', () => {
  let test: TestDatabase;
  let collector: Collector;
  let first: Platform;
  let second: Platform;
  let notified: Notified;
  let acme: Customer;
  let folder = '';
  const secret = 'very-private-address@example.com';

  beforeAll(async () => {
    test = await createTestDatabase();
    collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
    folder = await mkdtemp(join(tmpdir(), 'svc-traces-'));
    const file = join(folder, 'endpoint');
    await writeFile(file, collector.url);
    const fromFile = { OTEL_EXPORTER_OTLP_ENDPOINT_FILE: file, OTEL_BSP_SCHEDULE_DELAY: '100' };
    first = await startPlatform({ databaseUrl: test.url, env });
    await deploy(first);
    notified = await openNotified(first, 'told', ['write.async.done']);
    const told = new URL(notified.receiver.url).host;
    second = await startPlatform({
      databaseUrl: test.url,
      beside: first,
      env: { ...fromFile, SVC_TRACE_CONTEXT_TO: told },
    });
    await first.restart('SIGTERM', { ...env, SVC_TRACE_CONTEXT_TO: told });
    acme = await install(first, 'hubspot-crm', 'acme');
  }, 60_000);
  afterAll(async () => {
    await notified?.receiver.close();
    await second?.stop();
    await first?.stop();
    await collector?.close();
    await test?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const of = (trace: string): CollectedSpan[] => collector.spans.filter(({ traceId }) => traceId === trace);
  /** The spans from one up to the caller's. */
  const upFrom = (span: CollectedSpan | undefined): string[] => {
    if (!span) return [];
    const parent = of(span.traceId).find((one) => one.spanId === span.parentSpanId);
    return [span.name, ...(parent ? upFrom(parent) : [span.parentSpanId])];
  };

  it('one trace leads from the caller to the provider and the delivery, over nodes', async () => {
    const nodes = (): Set<unknown> =>
      new Set(
        of(ofWrites)
          .filter(({ name }) => name.startsWith('run '))
          .map(({ resource }) => resource['service.instance.id']),
      );
    for (let round = 0; round < 40 && nodes().size < 2; round++) {
      const write = await first.call<{ operationId: string }>(
        'POST',
        '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
        { groupRef: 'acme', type: 'create', mode: 'asynchronous', record: { email: `${round}${secret}` } },
        { headers: { traceparent: traceparentOf(ofWrites) } },
      );
      expect(write.status).toBe(200);
      await notified.until('write.async.done', (data) => data['operationId'] === write.body.operationId);
    }
    await expect.poll(() => nodes().size, { timeout: 10_000 }).toBe(2);
    const ended = (name: string, host: string) => (): string[] =>
      upFrom(of(ofWrites).findLast((span) => span.name === name && hostOf(span) === host));
    const route = 'POST /write/v1/projects/:projectIdOrName/integrations/:integrationId/objects/:objectName';
    const above = [route, spanId];
    await expect
      .poll(ended('POST', new URL(first.hubspot).host), { timeout: 5_000 })
      .toEqual(['POST', 'run write', ...above]);
    await expect
      .poll(ended('POST', new URL(notified.receiver.url).host), { timeout: 5_000 })
      .toEqual(['POST', 'run delivery', ...above]);
    expect(upFrom(of(ofWrites).find(({ name }) => name === 'accept'))).toEqual(['accept', ...above]);
  }, 60_000);

  it('a proxied call continues the trace of its caller, and the provider is not told of it', async () => {
    const answer = await fetch(`${first.proxy}/crm/v3/objects/contacts?limit=1&about=${secret}`, {
      headers: {
        'x-api-key': first.apiKey,
        'x-svc-proxy-version': '1',
        'x-svc-project-id': first.projectId,
        'x-svc-installation-id': acme.installationId,
        traceparent: traceparentOf(ofProxiedCall),
        tracestate: 'vendor=1',
        baggage: 'user=7',
      },
    });
    expect(answer.status).toBe(200);
    const names = (): string[] => upFrom(of(ofProxiedCall).find(({ kind }) => kind === client));
    await expect.poll(names, { timeout: 5_000 }).toEqual(['GET', 'proxy', spanId]);
    const span = of(ofProxiedCall).find(({ kind }) => kind === server);
    expect(span?.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'svc.project_id': first.projectId,
    });
    const seen = await requestsOf(first.hubspot);
    expect(seen.length).toBeGreaterThan(0);
    for (const { headers } of seen) expect(Object.keys(headers)).not.toContain('traceparent');
  });

  it('a host that the operator names is told of the trace', () => {
    const headers = notified.receiver.received.map((one) => one.headers['traceparent']);
    const spans = of(ofWrites).filter(({ kind }) => kind === client);
    expect(
      headers.filter((one) => spans.some((span) => one === `00-${ofWrites}-${span.spanId}-01`)),
    ).not.toEqual([]);
  });

  it('spans hold no key, no record and no path', () => {
    for (const hidden of [first.apiKey, secret, '/crm/v3/objects/contacts?', 'Bearer'])
      expect(collector.bytes.includes(hidden)).toBe(false);
    expect(collector.bytes.includes('svc.work_ref')).toBe(true);
  });

  it('a collector that is away is logged once, and once when it comes back, and costs nothing else', async () => {
    const port = await freePort();
    const lonely = await startPlatform({
      databaseUrl: test.url,
      beside: first,
      env: {
        SVC_LOG_LEVEL: 'info',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: '300',
        OTEL_BSP_SCHEDULE_DELAY: '50',
      },
    });
    const count = (text: string): number => lonely.said().split(text).length - 1;
    try {
      await expect
        .poll(async () => (await lonely.call('GET', '/projects')).status && count('traces cannot be sent'), {
          timeout: 10_000,
        })
        .toBe(1);
      for (let call = 0; call < 20; call++) expect((await lonely.call('GET', '/projects')).status).toBe(200);
      const back = await startCollector(port);
      await expect
        .poll(async () => (await lonely.call('GET', '/projects')).status && back.spans.length, {
          timeout: 10_000,
        })
        .toBeGreaterThan(0);
      await expect.poll(() => count('sent to the collector again')).toBe(1);
      expect(count('traces cannot be sent')).toBe(1);
      await back.close();
    } finally {
      const began = performance.now();
      await lonely.stop();
      expect(performance.now() - began).toBeLessThan(9_000);
    }
  }, 60_000);

  function hostOf({ attributes }: CollectedSpan): string {
    return `${attributes['server.address']}:${attributes['server.port']}`;
  }
});

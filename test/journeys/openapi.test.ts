import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; schema?: unknown }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
  security?: Record<string, string[]>[];
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers?: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components?: {
    schemas?: Record<string, unknown>;
    responses?: Record<string, unknown>;
    securitySchemes?: Record<string, unknown>;
  };
}

const methods = new Set(['get', 'put', 'post', 'patch', 'delete']);

describe('test/journeys/openapi', () => {
  let test: TestDatabase;
  let platform: Platform;
  let document: Document;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    document = (await platform.call<Document>('GET', '/openapi.json', undefined, { key: null })).body;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const operations = (): [string, string, Operation][] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, string, Operation] => [
        method,
        path,
        operation,
      ]),
    );

  it('/openapi.json is an OpenAPI 3.1 document with the endpoints of the specification', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({
      title: expect.any(String),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    const shown = operations().map(([method, path]) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`);
    for (const one of [
      'post /v1/projects/{}/integrations/{}/installations',
      'patch /v1/projects/{}/integrations/{}/installations/{}',
      'patch /v1/projects/{}/integrations/{}/objects/{}/config-content',
      'post /write/v1/projects/{}/integrations/{}/objects/{}',
      'get /v1/projects/{}/operations/{}',
      'post /v1/oauth-connect',
      'put /v1/projects/{}/integrations:batch',
      'patch /v1/projects/{}/connections/{}:oauth-update',
      'post /v1/projects/{}/connections:generate',
      'get /v1/projects/{}/integrations/{}/revisions/{}:hydrate',
    ]) {
      expect(shown).toContain(one);
    }
  });

  it('each operation has an id of its own, a summary, its path parameters and its answers', () => {
    const ids = operations().map(([, , operation]) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [method, path, operation] of operations()) {
      const place = `${method} ${path}`;
      expect([place, methods.has(method)]).toEqual([place, true]);
      expect([place, typeof operation.summary]).toEqual([place, 'string']);
      const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name);
      expect([place, new Set(declared)]).toEqual([place, new Set(named)]);
      expect([place, Object.keys(operation.responses).some((status) => /^[23]/.test(status))]).toEqual([
        place,
        true,
      ]);
    }
  });

  it('no large schema stands in two places, and nothing with a default is required', () => {
    const large = new Map<string, string>();
    const faults: string[] = [];
    const look = (node: unknown, at: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const text = JSON.stringify(node);
      if (text.length > 700 && 'properties' in node) {
        if (large.has(text)) faults.push(`${at} and ${large.get(text)}`);
        large.set(text, at);
      }
      const { properties = {}, required = [] } = node as { properties?: object; required?: string[] };
      for (const [name, member] of Object.entries(properties))
        if (Array.isArray(required) && required.includes(name) && 'default' in (member as object))
          faults.push(`${at}/${name} has a default and is required`);
      for (const [key, value] of Object.entries(node)) look(value, `${at}/${key}`);
    };
    look(document, '');
    expect(faults).toEqual([]);
    for (const [method, path, { parameters = [] }] of operations())
      for (const { name, schema, required } of parameters)
        expect([method, path, name, required && 'default' in (schema as object)]).not.toContain(true);
  });

  it('every list and every map that a caller sends has a limit', () => {
    const unlimited = new Set<string>();
    const seen = new Set<unknown>();
    const look = (node: unknown, at: string): void => {
      if (typeof node !== 'object' || node === null || seen.has(node)) return;
      seen.add(node);
      const schema = node as Record<string, unknown>;
      const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref']))?.[1];
      if (name !== undefined) look(document.components?.schemas?.[name], name);
      if (schema['type'] === 'array' && schema['maxItems'] === undefined) unlimited.add(at);
      const takesAnyName = schema['type'] === 'object' && typeof schema['additionalProperties'] === 'object';
      if (takesAnyName && schema['maxProperties'] === undefined) unlimited.add(at);
      for (const [key, value] of Object.entries(schema))
        if (!['example', 'examples', 'enum', 'default', 'const'].includes(key)) look(value, `${at}/${key}`);
    };
    for (const [method, path, { requestBody }] of operations())
      for (const { schema } of Object.values(requestBody?.content ?? {})) look(schema, `${method} ${path}`);
    expect([...unlimited]).toEqual([]);
    expect(seen.size).toBeGreaterThan(500);
  });

  it.each(['/openapi.json', '/v1/providers'])(
    '%s is answered compressed, and with 304 to a caller who has it',
    async (path) => {
      const ask = (headers: Record<string, string>) =>
        fetch(`${platform.base}${path}`, { headers: { 'x-api-key': platform.apiKey, ...headers } });
      const plain = await ask({ 'accept-encoding': 'identity' });
      const whole = await plain.text();
      const coded = await ask({ 'accept-encoding': 'br' });
      expect(coded.headers.get('content-encoding')).toBe('br');
      expect(coded.headers.get('vary')).toMatch(/accept-encoding/i);
      expect(await coded.text()).toBe(whole);
      const etag = coded.headers.get('etag') ?? '';
      expect(etag).toMatch(/^(?:W\/)?".+"$/);
      const again = await ask({ 'accept-encoding': 'br', 'if-none-match': etag });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const other = await ask({ 'if-none-match': '"another"' });
      expect([other.status, await other.text()]).toEqual([200, whole]);
    },
  );

  it('every operation answers a failure with the same problem', () => {
    for (const [method, path, { responses }] of operations())
      expect([method, path, responses['default']]).toEqual([
        method,
        path,
        { $ref: '#/components/responses/Problem' },
      ]);
    expect(document.components?.responses?.['Problem']).toMatchObject({
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    });
  });

  it('every reference leads somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, pointer]) => pointer ?? '',
    );
    // Each operation refers to the problem at least.
    expect(references.length).toBeGreaterThan(operations().length);
    for (const pointer of references) {
      const found = pointer
        .split('/')
        .reduce<unknown>(
          (node, key) =>
            (node as Record<string, unknown> | undefined)?.[
              decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
            ],
          document,
        );
      expect([pointer, found === undefined]).toEqual([pointer, false]);
    }
  });

  it('§5 it declares the two ways of authentication', () => {
    const schemes = Object.values(document.components?.securitySchemes ?? {});
    expect(schemes).toContainEqual(
      expect.objectContaining({ type: 'apiKey', in: 'header', name: expect.stringMatching(/x-api-key/i) }),
    );
    expect(schemes).toContainEqual(expect.objectContaining({ type: 'http', scheme: 'bearer' }));
  });

  it('§9 every route of the document is there, below its version', async () => {
    for (const [method, path] of operations()) {
      expect(path).toMatch(/^\/((write|read|search|callbacks)\/)?v1\//);
      const concrete = path.replaceAll(/\{[^}]+\}/g, 'x');
      const answer = await platform.call<{ code?: string }>(
        method.toUpperCase(),
        concrete,
        ['get', 'delete'].includes(method) ? undefined : {},
      );
      expect([path, answer.body.code === 'route-not-found', answer.status >= 500]).toEqual([
        path,
        false,
        false,
      ]);
    }
  });

  it('/docs/api shows the reference to everybody', async () => {
    const page = await fetch(`${platform.base}/docs/api`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="(\.?\/[^"]+)"/g)].map(
      ([, at]) => new URL(at ?? '', page.url).href,
    );
    expect(assets.length).toBeGreaterThan(0);
    for (const asset of assets) expect([asset, (await fetch(asset)).status]).toEqual([asset, 200]);
    expect(html).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)/);
  });

  it('/healthz and /readyz answer without a key', async () => {
    expect(await platform.call('GET', '/healthz', undefined, { key: null })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await platform.call('GET', '/readyz', undefined, { key: null })).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
  });

  it('/metrics wants a key and speaks Prometheus', async () => {
    expect(await platform.call('GET', '/metrics', undefined, { key: null })).toMatchObject({ status: 401 });
    const metrics = await platform.call('GET', '/metrics');
    expect(metrics.status).toBe(200);
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(metrics.text).toMatch(/^# HELP /m);
    expect(metrics.text).toMatch(/route="\/v1\/projects"/);
    expect(metrics.text).not.toContain(platform.projectId);
  });
});

describe('test/journeys/openapi with SVC_METRICS_PUBLIC', () => {
  it('/metrics answers everybody', async () => {
    const test = await createTestDatabase();
    const platform = await startPlatform({ databaseUrl: test.url, env: { SVC_METRICS_PUBLIC: 'true' } });
    expect((await platform.call('GET', '/metrics', undefined, { key: null })).status).toBe(200);
    await platform.stop();
    await test.drop();
  });
});

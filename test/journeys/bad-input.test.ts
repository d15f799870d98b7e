import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

const absentId = '0192f0c1-0000-7000-8000-000000000000';

describe('test/journeys/bad-input', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let otherKey = '';

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    const other = await platform.call<{ apiKey: { key: string } }>('POST', '/projects', { name: 'rival' });
    otherKey = other.body.apiKey.key;
    await simulator(platform.hubspot, 'DELETE', '/requests');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const write = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
  const post = (path: string, body: string, headers?: Record<string, string>): Promise<Answer<ProblemBody>> =>
    platform.call('POST', path, body, headers ? { headers } : {});
  /** What the caller is told, and how often the provider was asked. */
  const told = async ({ status, headers, body }: Answer<ProblemBody>) => ({
    status,
    code: body.code,
    type: headers.get('content-type'),
    hasWords: Boolean(body.detail && body.remedy),
    hasItsId: headers.get('x-request-id') === body.requestId,
    sent: (await requestsOf(platform.hubspot)).length,
  });
  const problem = (status: number, code: string) => ({
    status,
    code,
    type: 'application/problem+json; charset=utf-8',
    hasWords: true,
    hasItsId: true,
    sent: 0,
  });

  it.each(['{', '{"groupRef":"acme",}', "{'a':1}", 'null x', '\u0000', '{"a":01}', '{"a":NaN}', '"\\ud800'])(
    'malformed JSON is refused: %j',
    async (body) => {
      expect(await told(await post(write, body))).toEqual(problem(400, 'malformed-json'));
    },
  );

  it('an empty body is refused where one is needed', async () => {
    expect(await told(await post(write, ''))).toEqual(problem(400, 'malformed-json'));
  });

  it('where no body is wanted, an empty one may be called JSON', async () => {
    type Operations = Record<string, { operationId: string; requestBody?: unknown }>;
    const document = await platform.call<{ paths: Record<string, Operations> }>('GET', '/openapi.json');
    const wantingNone = Object.entries(document.body.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(
          ([method, { operationId, requestBody }]) =>
            // A path without an id has nothing that could be absent; `endSession` is called by browsers only.
            path.replace('{projectIdOrName}', '').includes('{') &&
            operationId !== 'endSession' &&
            ((method !== 'get' && !requestBody) || operationId === 'retryOperation'),
        )
        .map(([method, { operationId }]) => ({ method, operationId, path })),
    );
    expect(wantingNone.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['oauthUpdate', 'retryOperation', 'deleteConnection']),
    );
    for (const { method, operationId, path } of wantingNone) {
      const at = path.replace('{projectIdOrName}', 'default').replaceAll(/\{[^}]+\}/g, absentId);
      const answer = await platform.call<ProblemBody>(method.toUpperCase(), at, '');
      expect([operationId, answer.status, answer.body.code]).toEqual([
        operationId,
        404,
        expect.stringMatching(/not-found$/),
      ]);
    }
    const path = `/projects/default/connections/${customer.connectionId}:oauth-update`;
    expect((await platform.call('PATCH', path, '')).status).toBe(200);
  });

  it.each(['null', '[]', '"text"', '7', 'true'])('a body that is no object is refused: %s', async (body) => {
    expect(await told(await post(write, body))).toEqual(problem(400, 'invalid-request'));
  });

  it.each([
    '{"__proto__":{"a":1}}',
    '{"groupRef":"acme","type":"create","record":{"__proto__":{"x":1}}}',
    '{"\\u005f_proto__":1}',
    '[{"a":[{"__proto__":1}]}]',
  ])('the key __proto__ is refused: %s', async (body) => {
    expect(await told(await post(write, body))).toEqual(problem(400, 'malformed-json'));
  });

  it('constructor and prototype are ordinary field names: the provider decides', async () => {
    const answer = await post(
      write,
      '{"groupRef":"acme","type":"create","dryRun":true,"record":{"constructor":{"prototype":{"x":1}}}}',
    );
    expect(answer.status).toBe(200);
  });

  it('a body over the limit is refused, announced or not', async () => {
    const large = `{"a":"${'x'.repeat(10 * 1024 * 1024)}"}`;
    expect(await told(await post(write, large))).toEqual(problem(413, 'body-too-large'));
    const chunked = await rawCall(platform.base, {
      method: 'POST',
      target: write,
      headers: {
        'x-api-key': platform.apiKey,
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
      },
      chunks: [large.slice(0, 1_000_000), large.slice(1_000_000)],
    });
    expect(chunked.status).toBe(413);
  });

  it('deep nesting does no harm', async () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (const levels of [101, 5_000, 100_000]) {
      const answer = await post(write, `{"groupRef":"acme","type":"create","record":${deep(levels)}}`);
      expect(answer.status).toBe(400);
      const list = await post(write, '['.repeat(levels) + ']'.repeat(levels));
      expect(list.status).toBe(400);
    }
    const hidden = await post(write, `${'{"a":'.repeat(5_000)}{"__proto__":1}${'}'.repeat(5_000)}`);
    expect(await told(hidden)).toEqual(problem(400, 'malformed-json'));
    const config = `{"groupRef":"acme","config":{"content":${deep(5_000)}}}`;
    expect((await post('/projects/default/integrations/hubspot-crm/installations', config)).status).toBe(400);
  });

  it.each([
    ['text/plain', 'hello'],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['application/xml', '<a/>'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/jsonp', '{}'],
    ['rubbish', '{}'],
  ])('a content type that is not JSON is refused: %s', async (type, body) => {
    expect(await told(await post(write, body, { 'content-type': type }))).toEqual(
      problem(415, 'unsupported-media-type'),
    );
  });

  it('a group reference longer than any group has is not shown whole in the refusal', async () => {
    const groupRef = 'g'.repeat(100_000);
    const answer = await platform.call('POST', write, { groupRef, type: 'create', record: {} });
    expect([answer.status, answer.text.length < 2_000]).toEqual([400, true]);
  });

  it('JSON with a charset is JSON', async () => {
    const answer = await post(write, '{}', { 'content-type': 'application/json; charset=utf-8' });
    expect(await told(answer)).toEqual(problem(400, 'invalid-request'));
  });

  it('of many faults 20 are named, and how many more there are is said', async () => {
    const nonsense = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`extra${at}`, at]));
    const { status, body } = await platform.call<ProblemBody & { moreIssues?: number }>('POST', write, {
      groupRef: 'acme',
      type: 'create',
      record: {},
      ...nonsense,
    });
    expect(status).toBe(400);
    expect(body.issues).toHaveLength(20);
    expect(body.moreIssues).toBe(30);
  });

  it('wrong types and unknown properties are named with their paths, all of them', async () => {
    const answer = await platform.call<ProblemBody>('POST', write, {
      groupRef: 7,
      type: 'create',
      record: {},
      extra: 1,
      batchPolicy: { allOrNone: 'x', more: 1 },
    });
    expect(await told(answer)).toEqual(problem(400, 'invalid-request'));
    expect(answer.body.issues?.map(({ name }) => name).sort()).toEqual([
      'batchPolicy.allOrNone',
      'batchPolicy.more',
      'extra',
      'groupRef',
    ]);
    const secret = await platform.call<ProblemBody>('POST', '/projects/default/connections:generate', {
      provider: 'hubspot',
      groupRef: 'g',
      consumerRef: 'c',
      basicAuth: { username: 'u', password: 12345678 },
    });
    expect(secret.status).toBe(400);
    expect(secret.text).not.toContain('12345678');
  });

  it.each([
    ['GET', `/projects/${absentId}`],
    ['GET', '/projects/nothing/integrations'],
    ['GET', `/projects/default/integrations/${absentId}`],
    ['GET', `/projects/default/connections/${absentId}`],
    ['GET', '/projects/default/connections/nonsense'],
    ['DELETE', `/projects/default/connections/${absentId}`],
    ['GET', `/projects/default/integrations/hubspot-crm/installations/${absentId}`],
    ['GET', '/projects/default/integrations/hubspot-crm/installations/nonsense'],
    ['DELETE', '/projects/default/integrations/nothing'],
    ['GET', '/projects/default/operations/nonsense'],
    ['GET', '/projects/default/api-keys/nonsense'],
    ['GET', '/projects/default/jwt-keys/nonsense'],
    ['DELETE', `/projects/default/provider-apps/${absentId}`],
    ['GET', '/providers/nobody'],
    ['GET', `/projects/default/operations/${'a'.repeat(400)}`],
    ['GET', '/projects/%F0%9F%98%80/integrations'],
  ])('an unknown id is 404: %s %s', async (method, path) => {
    const answer = await platform.call<ProblemBody>(method, path);
    expect([404, 422]).toContain(answer.status);
    expect(answer.body.code).toMatch(/not-found|provider-unknown/);
  });

  it('a body that means nothing is refused, not ignored', async () => {
    const path = `/projects/default/deliveries/${absentId}:retry`;
    const answer = await platform.call<ProblemBody>('POST', path, { force: true });
    expect([answer.status, answer.body.issues?.map(({ name }) => name)]).toEqual([400, ['force']]);
    expect((await platform.call('POST', path, {})).status).toBe(404);
  });

  it('unknown methods and paths are refused', async () => {
    expect(await told(await platform.call('GET', '/nothing'))).toEqual(problem(404, 'route-not-found'));
    expect(await told(await platform.call('DELETE', '/projects/default/operations/x'))).toEqual(
      problem(404, 'route-not-found'),
    );
    expect(await told(await platform.call('POST', '/write/v1/nothing', {}))).toEqual(
      problem(404, 'route-not-found'),
    );
  });

  it('a provider that answers a write with HTML gets the caller a problem, not the page', async () => {
    await fault(platform.hubspot, { path: '/contacts', fault: { kind: 'html', status: 502 } });
    const answer = await customer.write<ProblemBody>('contacts', {
      type: 'create',
      record: { email: 'html@example.com' },
    });
    expect(answer).toMatchObject({
      status: 502,
      body: {
        operationId: expect.any(String),
        category: expect.stringMatching(/^(unknownOutcome|providerDown)$/),
      },
    });
    expect(answer.text).not.toMatch(/<html|<h1/);
    await simulator(platform.hubspot, 'DELETE', '/requests');
  });

  it('another project’s things do not exist', async () => {
    const key = { key: otherKey };
    for (const project of [platform.projectId, 'default', 'rival']) {
      for (const path of [
        '/integrations/hubspot-crm',
        `/connections/${customer.connectionId}`,
        `/integrations/hubspot-crm/installations/${customer.installationId}`,
        '/integrations/hubspot-crm/objects/contacts/metadata?groupRef=acme',
      ]) {
        expect(await platform.call('GET', `/projects/${project}${path}`, undefined, key)).toMatchObject({
          status: 404,
          body: { code: 'not-found' },
        });
      }
      const body = { groupRef: 'acme', type: 'create', record: { email: 'a@example.com' } };
      expect((await platform.call('POST', write.replace('default', project), body, key)).status).toBe(404);
      expect(
        (
          await platform.call(
            'DELETE',
            `/projects/${project}/connections/${customer.connectionId}`,
            undefined,
            key,
          )
        ).status,
      ).toBe(404);
    }
    expect((await platform.call<unknown[]>('GET', '/projects', undefined, key)).body).toMatchObject([
      { name: 'rival' },
    ]);
    expect((await platform.call('GET', `/projects/rival/installations`, undefined, key)).body).toEqual([]);
    expect(await requestsOf(platform.hubspot)).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

const app = 'https://app.example.com';
const everywhere = 'https://console.example.net';
const stranger = 'https://stranger.example';

describe('test/journeys/cross-origin', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_ALLOWED_ORIGINS: everywhere } });
    await allow([app]);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const allow = (allowedOrigins: string[]): Promise<Answer> =>
    platform.call('PATCH', '/projects/default', {
      updateMask: ['allowedOrigins'],
      project: { allowedOrigins },
    });

  const from = (origin: string, method: string, path: string, key?: string | null): Promise<Answer> =>
    platform.call(method, path, undefined, {
      headers: { origin },
      ...(key === undefined ? {} : { key }),
    });

  /** What a browser asks before it sends a request that is not simple. */
  const ask = (origin: string, method: string, path: string): Promise<Answer> =>
    platform.call('OPTIONS', path, undefined, {
      key: null,
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,x-svc-client',
      },
    });

  const letIn = ({ headers }: Answer): string | null => headers.get('access-control-allow-origin');

  it.each([
    ['POST', '/oauth-connect'],
    ['GET', '/projects/default/connections'],
    ['PATCH', '/projects/DEFAULT/integrations/a/installations/b'],
    ['DELETE', '/projects/default/connections/x'],
    ['GET', '/providers'],
  ])('a page of an allowed origin may send %s %s', async (method, path) => {
    for (const origin of [app, everywhere]) {
      const answer = await ask(origin, method, path);
      expect([answer.status, letIn(answer), answer.text]).toEqual([204, origin, '']);
      expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
      expect(answer.headers.get('access-control-allow-headers')).toBe(
        'authorization,content-type,x-svc-client',
      );
      expect(answer.headers.get('access-control-max-age')).toBe('600');
      expect(answer.headers.get('vary')?.toLowerCase()).toContain('origin');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('the page may read the answer, and what the headers say of it', async () => {
    const answer = await from(app, 'GET', '/projects/default');
    expect([answer.status, letIn(answer)]).toEqual([200, app]);
    const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(', ');
    for (const name of [
      'x-request-id',
      'retry-after',
      'idempotent-replayed',
      'x-svc-warnings',
      'deprecation',
    ])
      expect(exposed).toContain(name);
    const byId = await from(app, 'GET', `/projects/${platform.projectId}`);
    expect(letIn(byId)).toBe(app);
  });

  it.each([
    ['no credentials', 'GET', '/projects/default', null, 401],
    ['credentials of nobody', 'GET', '/projects/default', 'svc_nobody', 401],
    ['nothing there', 'GET', '/projects/default/connections/x', undefined, 404],
    ['no such route', 'GET', '/projects/default/nothing', undefined, 404],
    ['a query that is wrong', 'GET', '/projects/default/audit-log?pageSize=0', undefined, 400],
  ])('the page may read a refusal: %s', async (_title, method, path, key, status) => {
    const answer = await from(app, method, path, key);
    expect([answer.status, letIn(answer)]).toEqual([status, app]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('other pages learn nothing', async () => {
    for (const origin of [stranger, 'null', `${app}:444`, 'http://app.example.com', `${app}.evil.example`]) {
      expect([origin, letIn(await from(origin, 'GET', '/projects/default'))]).toEqual([origin, null]);
      const asked = await ask(origin, 'GET', '/projects/default');
      expect([origin, asked.status, asked.body['code'], letIn(asked)]).toEqual([
        origin,
        404,
        'route-not-found',
        null,
      ]);
    }
  });

  it('whoever keeps an answer knows that it depends on the origin', async () => {
    for (const path of ['/providers', '/projects/default']) {
      const { headers } = await platform.call('GET', path);
      expect([path, headers.get('vary')?.toLowerCase()]).toEqual([path, expect.stringContaining('origin')]);
    }
  });

  it('an origin is let in to the projects that name it, and a change holds at once', async () => {
    const made = await platform.call<{ id: string }>('POST', '/projects', { name: 'other' });
    expect(made.status).toBe(201);
    expect(letIn(await ask(app, 'GET', '/projects/other'))).toBeNull();
    expect(letIn(await ask(everywhere, 'GET', '/projects/other'))).toBe(everywhere);
    expect((await allow([])).body['allowedOrigins']).toEqual([]);
    expect(letIn(await from(app, 'GET', '/projects/default'))).toBeNull();
    expect(letIn(await ask(app, 'POST', '/oauth-connect'))).toBeNull();
    await allow([app]);
    expect(letIn(await from(app, 'GET', '/projects/default'))).toBe(app);
  });

  it('neither the write surface nor the proxy is for pages', async () => {
    const asked = await ask(app, 'POST', '/write/v1/projects/default/integrations/a/objects/b');
    expect([asked.status, letIn(asked)]).toEqual([404, null]);
    const proxied = await fetch(`${platform.proxy}/crm`, {
      method: 'OPTIONS',
      headers: { origin: app, 'access-control-request-method': 'GET' },
    });
    expect([proxied.status, proxied.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });

  it.each(['*', 'null', 'app.example.com', `${app}/`, `${app}/path`, 'https://App.example.com', ''])(
    'the list takes origins only, not "%s"',
    async (origin) => {
      const answer = await allow([app, origin]);
      expect(answer.status).toBe(400);
      expect(answer.body['issues']).toMatchObject([{ in: 'body', name: 'project.allowedOrigins[1]' }]);
    },
  );
});

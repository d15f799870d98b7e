import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { parse } from 'yaml';
import { baseUrlOf, loadCatalog, providerUrl, type ConnectionPlace } from '../../src/providers/index.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';
import { startRecorder, type Recorded, type Recorder } from '../recorder.ts';

type Texts = Record<string, string>;

/** One provider of every-provider.yaml; its head tells what the members mean. */
interface Expected {
  auth: 'code' | 'clientCredentials' | 'password' | 'apiKey' | 'basic' | 'custom' | 'jwt';
  base: string;
  authorize?: string;
  token?: string;
  refreshAt?: string;
  client?: 'basic';
  refreshClient?: 'basic';
  body?: 'json';
  separator?: string;
  pkce?: boolean;
  scheme?: string;
  params?: Texts;
  exchange?: Texts;
  refresh?: Texts;
  scopes?: string[];
  scopesRequired?: boolean;
  sent?: Texts;
  query?: Texts;
  basic?: string;
  key?: boolean;
  custom?: Texts;
  audience?: string;
  inputs?: Texts;
  redirect?: Texts;
  answer?: Record<string, unknown>;
  account?: unknown;
  askedAt?: string;
  askedWith?: string;
  workspace?: string;
}

interface Connected {
  id: string;
  authScheme: string;
  providerWorkspaceRef?: string;
  providerMetadata: Record<string, { value: string }>;
}

const expectations = parse(readFileSync(join(import.meta.dirname, 'every-provider.yaml'), 'utf8')) as Record<
  string,
  Expected
>;
const catalog = loadCatalog();
// With characters that a form has to escape and characters that it must not.
const client = { clientId: '0a1b-2c.3d_4e~', clientSecret: 'se-cr.et_/+=' };
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const given: Texts = { $pem: pem, $key: 'the-key', $user: 'ada', $password: 'pass:word' };
const schemes: Record<Expected['auth'], string> = {
  code: 'oauth2/authorizationCode',
  clientCredentials: 'oauth2/clientCredentials',
  password: 'oauth2/password',
  apiKey: 'apiKey',
  basic: 'basic',
  custom: 'custom',
  jwt: 'custom',
};

/** Where a URL leads, without its query. */
const placeOf = (text: string): string => text.split('?')[0] ?? '';
const pathOf = (text: string): string => new URL(text).pathname;
const queryOf = (url: URL): Texts => Object.fromEntries(url.searchParams);
const basicOf = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

function bodyOf({ body, headers }: Recorded, form: Expected['body']): Texts {
  const text = body.toString();
  expect(headers['content-type']).toContain(
    form === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
  );
  return form === 'json' ? (JSON.parse(text) as Texts) : Object.fromEntries(new URLSearchParams(text));
}

/** Ends the test at an unexpected status: the later steps need this one. */
function must({ status, text }: Answer<unknown>, wanted: number): void {
  if (status !== wanted) throw new Error(`answered ${status}, not ${wanted}: ${text}`);
}

describe('test/journeys/every-provider', () => {
  let test: TestDatabase;
  let recorder: Recorder;
  let platform: Platform;
  let token = '';

  beforeAll(async () => {
    [test, recorder] = await Promise.all([createTestDatabase(), startRecorder()]);
    const names = catalog.list().map(({ name }) => name);
    platform = await startPlatform({
      databaseUrl: test.url,
      records: 1,
      origins: Object.fromEntries(names.map((name) => [name, recorder.url])),
    });
    const integrations = names.map((name) => ({
      name: `to-${name}`,
      provider: name,
      proxy: { enabled: true },
    }));
    const deployed = await platform.call('PUT', `/projects/${platform.projectId}/integrations:batch`, {
      sourceYaml: JSON.stringify({ specVersion: '1.0.0', integrations }),
    });
    must(deployed, 200);
  });
  afterAll(async () => {
    await platform?.stop();
    await recorder?.close();
    await test?.drop();
  });

  /** The provider: a new token at each request for one, and an account that works. */
  function standIn(name: string, expected: Expected): void {
    const tokenUrls = [expected.token, expected.refreshAt].filter((url) => url !== undefined);
    const tokenPaths = new Set(tokenUrls.map(pathOf));
    let count = 0;
    recorder.reset();
    recorder.answer(({ method, target }, response) => {
      const path = placeOf(target);
      response.setHeader('content-type', 'application/json');
      if (method === 'POST' && tokenPaths.has(path)) {
        count += 1;
        token = `${name}-token-${count}`;
        const tokens = { access_token: token, refresh_token: `${name}-refresh-${count}`, expires_in: 3_600 };
        response.end(JSON.stringify({ ...tokens, ...movedAnswer(name, expected) }));
      } else if (path === expected.askedAt) response.end(JSON.stringify(expected.account));
      else response.end('{"ok":true,"is_logged_in":true}');
    });
  }

  /** What the token response adds; an API address is the stand-in's. */
  function movedAnswer(name: string, { answer = {} }: Expected): Record<string, unknown> {
    const { tokenField, isHostOnly } = catalog.get(name).instanceUrl ?? {};
    if (tokenField === undefined) return answer;
    return { ...answer, [tokenField]: isHostOnly ? new URL(recorder.url).host : recorder.url };
  }

  const tokenCalls = (url = ''): Recorded[] =>
    recorder.seen.filter(
      ({ method, target }) => method === 'POST' && url.endsWith(`${new URL(url).host}${target}`),
    );

  /** The members of a token request: exactly these, and the client where the provider wants it. */
  function expectTokenCall(request: Recorded | undefined, expected: Expected, members: Texts): void {
    expect(request).toBeDefined();
    const { clientId, clientSecret } = client;
    const inBody = expected.client ? {} : { client_id: clientId, client_secret: clientSecret };
    expect(bodyOf(request!, expected.body)).toEqual({ ...members, ...inBody });
    const pair = `${clientId}:${encodeURIComponent(clientSecret)}`;
    expect(request!.headers['authorization']).toBe(expected.client ? basicOf(pair) : undefined);
    expect(request!.headers['accept']).toContain('application/json');
  }

  const owner = (name: string, { inputs: { workspace, ...others } = {} }: Expected) => ({
    provider: name,
    groupRef: `of-${name}`,
    consumerRef: 'ada',
    ...(workspace === undefined ? {} : { providerWorkspaceRef: workspace }),
    providerMetadata: Object.fromEntries(
      Object.entries(others).map(([input, value]) => [input, { value, source: 'input' }]),
    ),
  });

  async function connectInBrowser(name: string, expected: Expected): Promise<string> {
    const scopes = ['one:read', 'two'];
    const app = await platform.call('POST', '/projects/default/provider-apps', {
      provider: name,
      ...client,
      scopes,
    });
    must(app, 200);
    const redirectUri = `${platform.base}/callbacks/v1/oauth`;
    const started = await platform.call('POST', '/oauth-connect', {
      projectIdOrName: 'default',
      ...owner(name, expected),
    });
    must(started, 200);
    const browser = newBrowser();
    const { next: url } = await browser.open(started.text, () => true);
    if (!url) throw new Error('the link leads nowhere');
    expect(url.origin + url.pathname).toBe(recorder.url + pathOf(expected.authorize ?? ''));
    const { state = '', code_challenge: challenge, ...params } = queryOf(url);
    expect(params).toEqual({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(expected.separator),
      ...(expected.pkce ? { code_challenge_method: 'S256' } : {}),
      ...expected.params,
    });
    expect(url.search).not.toContain('+');
    const back = new URLSearchParams({ ...expected.redirect, code: 'the-code', state });
    const page = await browser.open(`${redirectUri}?${back.toString()}`);
    expect(page).toMatchObject({ status: 200 });
    const [exchange, ...more] = tokenCalls(expected.token);
    expect(more).toEqual([]);
    const verifier = expected.pkce ? (bodyOf(exchange!, expected.body)['code_verifier'] ?? '') : undefined;
    expect(challenge).toBe(verifier && createHash('sha256').update(verifier).digest('base64url'));
    expectTokenCall(exchange, expected, {
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: redirectUri,
      ...expected.exchange,
      ...(verifier === undefined ? {} : { code_verifier: verifier }),
    });
    const found = await platform.call<Connected[]>(
      'GET',
      `/projects/default/connections?groupRef=of-${name}`,
    );
    return found.body[0]?.id ?? '';
  }

  async function connectWith(name: string, expected: Expected): Promise<string> {
    const { $key: apiKey, $user: username, $password: password } = given;
    const custom = Object.entries(expected.custom ?? {}).map(([input, value]) => [
      input,
      given[value] ?? value,
    ]);
    const blocks = {
      apiKey: { apiKey },
      basic: expected.key ? { apiKey } : { basicAuth: { username, password } },
      custom: { customAuth: Object.fromEntries(custom) as Texts },
      jwt: { customAuth: Object.fromEntries(custom) as Texts },
      clientCredentials: { oauth2ClientCredentials: client },
      password: { oauth2PasswordCredentials: { ...client, username, password } },
      code: {},
    };
    const made = await platform.call<Connected>('POST', '/projects/default/connections:generate', {
      ...owner(name, expected),
      ...blocks[expected.auth],
    });
    must(made, 201);
    if (expected.auth === 'clientCredentials')
      expectTokenCall(tokenCalls(expected.token)[0], expected, { grant_type: 'client_credentials' });
    if (expected.auth === 'jwt') await expectAssertion(tokenCalls(expected.token)[0], expected);
    if (expected.auth === 'password')
      expectTokenCall(tokenCalls(expected.token)[0], expected, {
        grant_type: 'password',
        username: given['$user'] ?? '',
        password: given['$password'] ?? '',
        ...expected.exchange,
      });
    return made.body.id;
  }

  /** Nothing but the assertion, signed with the customer's key, and the client's name. */
  async function expectAssertion(
    request: Recorded | undefined,
    { custom = {}, audience }: Expected,
  ): Promise<void> {
    const { assertion = '', ...others } = bodyOf(request!, undefined);
    const { clientId: issuer, username: subject } = custom;
    expect(others).toEqual({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', client_id: issuer });
    const { payload } = await jwtVerify(assertion, publicKey, {
      algorithms: ['RS256'],
      issuer: issuer!,
      audience: audience!,
    });
    expect(payload.sub).toBe(subject);
    expect((payload.exp ?? 0) - Date.now() / 1000).toBeLessThanOrEqual(180);
  }

  async function renew(name: string, expected: Expected, id: string): Promise<void> {
    const refreshToken = `${name}-refresh-1`;
    recorder.seen.length = 0;
    const renewed = await platform.call('GET', `/projects/default/connections/${id}?refresh=force`);
    must(renewed, 200);
    const [request, ...more] = tokenCalls(expected.refreshAt ?? expected.token);
    expect(more).toEqual([]);
    const { refreshClient = expected.client } = expected;
    const asked = { ...expected, ...(refreshClient ? { client: refreshClient } : {}) };
    expectTokenCall(request, asked, {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      ...expected.refresh,
    });
  }

  async function proxied(name: string, expected: Expected): Promise<void> {
    const installed = await platform.call<{ id: string }>(
      'POST',
      `/projects/default/integrations/to-${name}/installations`,
      { groupRef: `of-${name}`, config: { content: { provider: name } } },
    );
    must(installed, 201);
    recorder.seen.length = 0;
    const answer = await rawCall(platform.proxy, {
      target: '/some/thing?a=b%20c',
      headers: {
        'x-svc-proxy-version': '1',
        'x-svc-project-id': platform.projectId,
        'x-api-key': platform.apiKey,
        'x-svc-installation-id': installed.body.id,
      },
    });
    expect(answer.status).toBe(200);
    const fill = (text: string): string =>
      text.replace(/\$\w+/g, (word) => (word === '$token' ? token : (given[word] ?? word)));
    const query = Object.entries(expected.query ?? {}).map(([param, value]) => `&${param}=${fill(value)}`);
    const sent = Object.entries(expected.sent ?? {}).map(([header, value]) => [header, fill(value)]);
    const seen = recorder.seen.at(-1)!;
    expect(seen.target).toBe(`/some/thing?a=b%20c${query.join('')}`);
    expect({ authorization: undefined, ...seen.headers }).toMatchObject({
      authorization: expected.basic ? basicOf(fill(expected.basic)) : undefined,
      ...Object.fromEntries(sent),
    });
  }

  /** The addresses as they are without an operator's origin: those of the file. */
  function expectAddresses(name: string, expected: Expected, connected: Connected): void {
    const provider = catalog.get(name);
    const oauth = provider.oauth2Opts;
    const metadata = Object.entries(connected.providerMetadata).map(([item, { value }]) => [item, value]);
    const place: ConnectionPlace = {
      workspaceRef: connected.providerWorkspaceRef,
      metadata: Object.fromEntries(metadata) as Texts,
      instanceUrl: provider.instanceUrl && String(expected.answer?.[provider.instanceUrl.tokenField]),
    };
    const resolved = (url: string | undefined): string | undefined =>
      url && providerUrl(provider, url, place);
    expect({
      base: baseUrlOf(provider, place),
      authorize: resolved(oauth?.authURL),
      token: resolved(oauth?.tokenURL),
      refreshAt: resolved(oauth?.refreshURL),
      scopes: oauth?.defaultScopes,
      scopesRequired: oauth?.explicitScopesRequired || undefined,
    }).toEqual({
      base: expected.base,
      authorize: expected.authorize,
      token: expected.token,
      refreshAt: expected.refreshAt,
      scopes: expected.scopes,
      scopesRequired: expected.scopesRequired,
    });
  }

  it('knows 120 providers or more, and has an expectation of each', async () => {
    const listed = await platform.call<Record<string, { name: string; docsURL?: string; labels?: Texts }>>(
      'GET',
      '/providers',
    );
    expect(Object.keys(listed.body).length).toBeGreaterThanOrEqual(120);
    expect(Object.keys(listed.body).toSorted()).toEqual(Object.keys(expectations).toSorted());
    for (const { name, docsURL, labels } of Object.values(listed.body))
      expect({ name, docsURL, labels }).toEqual({
        name,
        docsURL: expect.stringMatching(/^https:\/\//) as string,
        labels: { category: expect.any(String) as string },
      });
  });

  it.each(Object.entries(expectations))(
    'connects %s and calls it through the proxy',
    async (name, expected) => {
      standIn(name, expected);
      const isCode = expected.auth === 'code';
      const id = await (isCode ? connectInBrowser(name, expected) : connectWith(name, expected));
      const question = recorder.seen.find(({ target }) => placeOf(target) === expected.askedAt);
      expect(question?.headers['authorization']).toBe(
        expected.askedAt && (expected.askedWith ?? 'Bearer $token').replace('$token', token),
      );
      const { body: connected } = await platform.call<Connected>(
        'GET',
        `/projects/default/connections/${id}`,
      );
      expect(connected.authScheme).toBe(
        expected.scheme ?? (expected.key ? 'apiKey' : schemes[expected.auth]),
      );
      expect(connected.providerWorkspaceRef).toBe(expected.workspace ?? expected.inputs?.['workspace']);
      expectAddresses(name, expected, connected);
      if (isCode || expected.auth === 'password') await renew(name, expected, id);
      await proxied(name, expected);
    },
  );
});

import { faultKinds } from './faults.ts';
import { isObject, json, parseJson } from './http.ts';
import type { Call, JsonObject, Reply } from './http.ts';
import type { Ground } from './ground.ts';
import type { App } from './oauth.ts';
import type { Filter } from './oauth-tokens.ts';
import type { Provider } from './provider.ts';
import { createRouter } from './router.ts';

export type ControlDefaults = { seed: number; records: number };
type Work = (body: JsonObject, call: Call) => unknown;

/** One call of the control API, as it is served and as the page at `/` shows it. */
export type Control = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  about: string;
  /** A body that can be sent as it stands. */
  example?: JsonObject;
  work: Work;
};

/** The control API under /__sim/; a bad request answers 400 `{error}`. */
export function createControl(provider: Provider, controls: Control[]): (call: Call) => Reply {
  const router = createRouter<Work>();
  for (const { method, path, work } of controls) router.add(method, path, work);
  return (call) => {
    const route = router.match(call.method, call.path);
    if (!route) return json(404, { error: `no control path ${call.path}` });
    if (!route.found) return json(405, { error: `use ${route.allowed.join(' or ')}` });
    const body = parseJson(call.text);
    if (!isObject(body)) return json(400, { error: 'the body must be a JSON object' });
    try {
      provider.settle?.();
      const result = route.value(body, { ...call, params: route.params });
      return result === undefined ? json(404, { error: 'not found' }) : json(200, result);
    } catch (error) {
      return json(400, { error: error instanceof Error ? error.message : String(error) });
    }
  };
}

/** All controls of a simulator, in the order in which the page shows them. */
export function controlsOf(ground: Ground, provider: Provider, defaults: ControlDefaults): Control[] {
  return [
    ...stateControls(ground, provider, defaults),
    ...dataControls(ground, provider),
    ...ledgerControls(ground, provider),
    ...accessControls(ground, provider),
  ];
}

function get(path: string, about: string, work: Work): Control {
  return { method: 'GET', path: `/__sim/${path}`, about, work };
}

function post(path: string, about: string, example: JsonObject, work: Work): Control {
  return { method: 'POST', path: `/__sim/${path}`, about, example, work };
}

function clear(path: string, about: string, clearAll: () => void): Control {
  const work = (): JsonObject => {
    clearAll();
    return {};
  };
  return { method: 'DELETE', path: `/__sim/${path}`, about, work };
}

const forgotten =
  'Clients and tokens of before are forgotten: what was connected with them has to be connected again.';

function stateControls(ground: Ground, provider: Provider, defaults: ControlDefaults): Control[] {
  return [
    get('health', 'Whether it runs, and its time.', () => ({
      name: provider.name,
      ok: true,
      now: ground.clock.iso(),
    })),
    post('reset', `Starts over with fresh data. ${forgotten}`, { ...defaults }, (body) => {
      const seed = integer(body, 'seed') ?? defaults.seed;
      const records = integer(body, 'records') ?? defaults.records;
      ground.reset(seed);
      provider.oauth.reset();
      provider.reset({ seed, records });
      return { seed, records, note: forgotten };
    }),
    post('clock', 'Moves the time: `advanceMs`, `shiftMs` or `freezeAt`.', { advanceMs: 60_000 }, (body) => {
      ground.clock.set(body);
      return { now: ground.clock.iso() };
    }),
    get('quotas', 'The limits of calls.', () => provider.quotas({})),
    post('quotas', 'Sets limits of calls; the answer names all.', provider.guide.quotas, (body) =>
      provider.quotas(body),
    ),
    post('settings', 'Sets how it behaves (below); the answer names all.', { latencyMs: 0 }, (body) => {
      const latencyMs = integer(body, 'latencyMs');
      if (latencyMs !== undefined) ground.latencyMs = latencyMs;
      if (typeof body['ledger'] === 'boolean') ground.ledger.enabled = body['ledger'];
      return { latencyMs: ground.latencyMs, ledger: ground.ledger.enabled, ...provider.settings(body) };
    }),
  ];
}

function dataControls(ground: Ground, provider: Provider): Control[] {
  const { data, schema } = provider.guide;
  const hook = { method: 'GET', path: data.listPath, after: 2, data: [data.example] };
  return [
    post('schema', schema.about, schema.example, (body) => provider.addSchema(body)),
    post('data', data.about, data.example, (body) => provider.addData(body)),
    get('data/:object', 'All records of an object, deleted ones too.', (_body, call) =>
      provider.readData(call.params['object'] ?? ''),
    ),
    get('data/:object/:id', 'One record as it is stored.', (_body, call) =>
      provider.readData(call.params['object'] ?? '', call.params['id']),
    ),
    post(
      'hooks',
      'Changes data right after the answer to the `after`-th successful request that matches `method`, `path`, `object` and `contains`: an edit between two pages.',
      hook,
      (body) => ground.hooks.add(body),
    ),
    get('hooks', 'The hooks that wait.', () => ({ hooks: ground.hooks.list() })),
    clear('hooks', 'Forgets them.', () => ground.hooks.clear()),
  ];
}

const since = (call: Call): number => Number(call.query.get('since') ?? 0);

function ledgerControls(ground: Ground, provider: Provider): Control[] {
  const fault = { path: provider.guide.data.listPath, times: 1, fault: { kind: 'status', status: 503 } };
  return [
    post(
      'faults',
      `Breaks the next \`times\` requests that match \`method\`, \`path\`, \`object\` and \`contains\`: ${faultKinds.map((kind) => `\`${kind}\``).join(', ')}; \`probability\` skips some.`,
      fault,
      (body) => ground.faults.add(body),
    ),
    get('faults', 'The faults that wait.', () => ({ faults: ground.faults.list() })),
    clear('faults', 'Forgets them.', () => ground.faults.clear()),
    get('requests', 'Every request (`?since=`, `?path=`).', (_body, call) => ({
      requests: ground.ledger.requests(since(call), call.query.get('path') ?? ''),
    })),
    clear('requests', 'Forgets requests and effects.', () => ground.ledger.clear()),
    get(
      'effects',
      'Every change of a record, with the request that made it (`?since=`, `?object=`).',
      (_body, call) => ({
        effects: ground.ledger.effects(since(call), call.query.get('object') ?? undefined),
      }),
    ),
    get(
      'counts',
      'Records by object, requests by status and path, effects by kind and object.',
      (_body, call) => counts(ground, provider, since(call)),
    ),
  ];
}

/** Records by object, requests by status and path, effects by kind and object. */
function counts(ground: Ground, provider: Provider, sinceSeq: number): JsonObject {
  const requests: Record<string, number> = {};
  for (const { method, path, status } of ground.ledger.requests(sinceSeq)) {
    const key = `${status} ${method} ${path.split('?')[0]}`;
    requests[key] = (requests[key] ?? 0) + 1;
  }
  const effects: Record<string, number> = {};
  for (const { kind, object } of ground.ledger.effects()) {
    const key = `${kind} ${object}`;
    effects[key] = (effects[key] ?? 0) + 1;
  }
  return { records: provider.counts(), requests, effects };
}

function accessControls(ground: Ground, provider: Provider): Control[] {
  const { oauth } = provider;
  const app = {
    clientId: 'my-app',
    clientSecret: 'my-secret',
    redirectUris: ['http://127.0.0.1:4000/callbacks/v1/oauth'],
  };
  return [
    post(
      'apps',
      'Registers an OAuth client, which is then held to its secret, redirect addresses and scopes; clients that are not registered are refused from then on.',
      app,
      (body) => {
        const clientId = body['clientId'];
        if (typeof clientId !== 'string') throw new Error('clientId must be a string');
        oauth.apps.set(clientId, body as App);
        return { clientId };
      },
    ),
    post(
      'consent',
      'What the consent page does: `approve` at once, `deny`, or `page` to ask.',
      { mode: 'page' },
      (body) => {
        const mode = body['mode'];
        if (mode === 'page' || mode === 'approve' || mode === 'deny') oauth.consent.mode = mode;
        else if (mode !== undefined) throw new Error('mode must be page, approve or deny');
        oauth.consent.account = accountIn(body) ?? oauth.consent.account;
        return oauth.consent;
      },
    ),
    post(
      'tokens',
      '`issue` makes a pair of tokens, `expire` ends access tokens, `revoke` refresh tokens (or `which: "access"`), of a `token` or an `account`.',
      { action: 'issue' },
      (body) => changeTokens(body, ground, provider),
    ),
  ];
}

/** Accounts of HubSpot are numbers. */
function accountIn({ account }: JsonObject): string | undefined {
  return typeof account === 'string' || typeof account === 'number' ? String(account) : undefined;
}

/** `expire` access tokens, `revoke` refresh (or, `which: 'access'`, access) tokens, `issue` a pair. */
function changeTokens(body: JsonObject, ground: Ground, provider: Provider): unknown {
  const { tokens } = provider.oauth;
  const filter: Filter = {};
  if (typeof body['token'] === 'string') filter.token = body['token'];
  const account = accountIn(body);
  if (account !== undefined) filter.account = account;
  const action = body['action'];
  if (action === 'expire') return { count: tokens.expireAccess(filter) };
  if (action === 'revoke') return { count: revoke(body['which'], filter, provider) };
  if (action !== 'issue') throw new Error('action must be expire, revoke or issue');
  const grant = tokens.grant({
    clientId: typeof body['clientId'] === 'string' ? body['clientId'] : '',
    account: filter.account ?? provider.defaultAccount,
    scopes: Array.isArray(body['scopes']) ? body['scopes'].map(String) : provider.defaultScopes,
  });
  const access = tokens.issueAccess(grant, integer(body, 'expiresInMs'));
  return {
    accessToken: access.token,
    refreshToken: grant.refreshToken,
    expiresAt: new Date(access.expiresAt).toISOString(),
    account: grant.account,
    scopes: grant.scopes,
    instanceUrl: ground.url,
  };
}

function revoke(which: unknown, filter: Filter, provider: Provider): number {
  const { tokens } = provider.oauth;
  if (which === 'access') return tokens.revokeAccess(filter);
  if (filter.token && tokens.access(filter.token)) return tokens.revokeAccess(filter);
  return tokens.revokeRefresh(filter);
}

function integer(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error(`${name} must be a number`);
  return value;
}

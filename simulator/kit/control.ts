import { isObject, json, parseJson } from './http.ts';
import type { Call, JsonObject, Reply } from './http.ts';
import type { Ground } from './ground.ts';
import type { App } from './oauth.ts';
import type { Filter } from './oauth-tokens.ts';
import type { Provider } from './provider.ts';
import { createRouter } from './router.ts';
import type { Router } from './router.ts';

export type ControlDefaults = { seed: number; records: number };
type Work = (body: JsonObject, call: Call) => unknown;

/** The control API under /__sim/; a bad request answers 400 `{error}`. */
export function createControl(
  ground: Ground,
  provider: Provider,
  defaults: ControlDefaults,
): (call: Call) => Reply {
  const router = createRouter<Work>();
  addState(router, ground, provider, defaults);
  addLedger(router, ground, provider);
  addOAuth(router, ground, provider);
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

function addState(router: Router<Work>, ground: Ground, provider: Provider, defaults: ControlDefaults): void {
  router.add('GET', '/__sim/health', () => ({ name: provider.name, ok: true, now: ground.clock.iso() }));
  router.add('POST', '/__sim/reset', (body) => {
    const seed = integer(body, 'seed') ?? defaults.seed;
    const records = integer(body, 'records') ?? defaults.records;
    ground.reset(seed);
    provider.oauth.reset();
    provider.reset({ seed, records });
    return { seed, records };
  });
  router.add('POST', '/__sim/clock', (body) => {
    ground.clock.set(body);
    return { now: ground.clock.iso() };
  });
  router.add('GET', '/__sim/quotas', () => provider.quotas({}));
  router.add('POST', '/__sim/quotas', (body) => provider.quotas(body));
  router.add('POST', '/__sim/settings', (body) => {
    const latencyMs = integer(body, 'latencyMs');
    if (latencyMs !== undefined) ground.latencyMs = latencyMs;
    if (typeof body['ledger'] === 'boolean') ground.ledger.enabled = body['ledger'];
    return { latencyMs: ground.latencyMs, ledger: ground.ledger.enabled, ...provider.settings(body) };
  });
  router.add('POST', '/__sim/schema', (body) => provider.addSchema(body));
  router.add('POST', '/__sim/data', (body) => provider.addData(body));
  router.add('GET', '/__sim/data/:object', (_body, call) => provider.readData(call.params['object'] ?? ''));
  router.add('GET', '/__sim/data/:object/:id', (_body, call) =>
    provider.readData(call.params['object'] ?? '', call.params['id']),
  );
}

function addLedger(router: Router<Work>, ground: Ground, provider: Provider): void {
  const since = (call: Call): number => Number(call.query.get('since') ?? 0);
  router.add('GET', '/__sim/requests', (_body, call) => ({
    requests: ground.ledger.requests(since(call), call.query.get('path') ?? ''),
  }));
  router.add('DELETE', '/__sim/requests', () => {
    ground.ledger.clear();
    return {};
  });
  router.add('GET', '/__sim/effects', (_body, call) => ({
    effects: ground.ledger.effects(since(call), call.query.get('object') ?? undefined),
  }));
  router.add('GET', '/__sim/counts', (_body, call) => counts(ground, provider, since(call)));
  router.add('POST', '/__sim/hooks', (body) => ground.hooks.add(body));
  router.add('GET', '/__sim/hooks', () => ({ hooks: ground.hooks.list() }));
  router.add('DELETE', '/__sim/hooks', () => {
    ground.hooks.clear();
    return {};
  });
  router.add('POST', '/__sim/faults', (body) => ground.faults.add(body));
  router.add('GET', '/__sim/faults', () => ({ faults: ground.faults.list() }));
  router.add('DELETE', '/__sim/faults', () => {
    ground.faults.clear();
    return {};
  });
}

/** Records by object, requests by status and path, effects by kind and object. */
function counts(ground: Ground, provider: Provider, since: number): JsonObject {
  const requests: Record<string, number> = {};
  for (const { method, path, status } of ground.ledger.requests(since)) {
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

function addOAuth(router: Router<Work>, ground: Ground, provider: Provider): void {
  const { oauth } = provider;
  router.add('POST', '/__sim/apps', (body) => {
    const clientId = body['clientId'];
    if (typeof clientId !== 'string') throw new Error('clientId must be a string');
    oauth.apps.set(clientId, body as App);
    return { clientId };
  });
  router.add('POST', '/__sim/consent', (body) => {
    const mode = body['mode'];
    if (mode === 'page' || mode === 'approve' || mode === 'deny') oauth.consent.mode = mode;
    else if (mode !== undefined) throw new Error('mode must be page, approve or deny');
    if (typeof body['account'] === 'string') oauth.consent.account = body['account'];
    return oauth.consent;
  });
  router.add('POST', '/__sim/tokens', (body) => changeTokens(body, ground, provider));
}

/** `expire` access tokens, `revoke` refresh (or, `which: 'access'`, access) tokens, `issue` a pair. */
function changeTokens(body: JsonObject, ground: Ground, provider: Provider): unknown {
  const { tokens } = provider.oauth;
  const filter: Filter = {};
  if (typeof body['token'] === 'string') filter.token = body['token'];
  if (typeof body['account'] === 'string') filter.account = body['account'];
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

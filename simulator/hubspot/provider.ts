import { randomUUID } from 'node:crypto';
import { createRandom, isObject, json, parseJson } from '../kit/index.ts';
import type { Call, Ground, JsonObject, Provider, Reply } from '../kit/index.ts';
import { authenticate } from './access.ts';
import { controlData, controlSchema, controlSettings, countData, readData } from './control.ts';
import { invalid, isRefusal, notFound, notJson, refuse, toReply } from './errors.ts';
import type { Refusal } from './errors.ts';
import { createPortal, DEFAULT_PORTAL, DEFAULT_SETTINGS } from './hub.ts';
import { hubspotGuide } from './guide.ts';
import type { Hub } from './hub.ts';
import { createLimits, DEFAULT_QUOTAS } from './limits.ts';
import { createHubspotOAuth, DEFAULT_SCOPES } from './oauth.ts';
import { standardOwners } from './pipeline-data.ts';
import { canonicalPath, hubspotRoutes } from './routes.ts';
import type { Route } from './routes.ts';
import { seed } from './seed.ts';

export type HubspotOptions = { strictApps: boolean; privateToken: string | undefined };

const routes = hubspotRoutes();

/** HubSpot as the kit wants it; empty until its first reset. */
export function createHubspot(ground: Ground, options: HubspotOptions): Provider {
  const hub: Hub = {
    ground,
    oauth: createHubspotOAuth(ground, {
      strictApps: options.strictApps,
      accessLifeMs: () => hub.settings.accessLifeMs,
    }),
    limits: createLimits(() => ground.clock.now()),
    settings: { ...DEFAULT_SETTINGS },
    portal: createPortal(standardOwners()),
    privateToken: options.privateToken,
  };
  return {
    name: 'hubspot',
    handle: (call) => handle(hub, call),
    crashed: (error) => {
      const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
      return finish({ status: 500, body: refuse(500, message, 'INTERNAL_ERROR').body }, {});
    },
    oauth: hub.oauth,
    guide: hubspotGuide,
    defaultAccount: DEFAULT_PORTAL,
    defaultScopes: DEFAULT_SCOPES,
    objectOf: (call) => objectOf(hub, call),
    reset: (input) => {
      hub.settings = { ...DEFAULT_SETTINGS };
      hub.limits.set({ ...DEFAULT_QUOTAS });
      seed(hub, input.records, createRandom(input.seed, 'records'));
    },
    quotas: (input) => hub.limits.set(input),
    settings: (input) => controlSettings(hub, input),
    addSchema: (input) => controlSchema(hub, input),
    addData: (input) => controlData(hub, input),
    readData: (object, id) => readData(hub, object, id),
    counts: () => countData(hub),
  };
}

function handle(hub: Hub, call: Call): Reply {
  const match = routes.match(call.method, canonicalPath(call.path));
  if (!match) return finish(toReply(notFound()), {});
  if (!match.found)
    return finish(toReply(refuse(405, 'Method not allowed')), { allow: match.allowed.join(', ') });
  const routed = { ...call, params: match.params };
  if ('open' in match.value) return finish(match.value.open(hub, routed), {});
  return answer(hub, routed, match.value);
}

function answer(hub: Hub, call: Call, route: Exclude<Route, { open: unknown }>): Reply {
  const access = authenticate(hub, call);
  if (isRefusal(access)) return finish(toReply(access), {});
  const admission = hub.limits.admit(access.grant, route.search);
  if ('refused' in admission) return finish(admission.refused, {});
  const body = parseJson(call.text);
  const list: unknown[] = Array.isArray(body) ? body : [];
  if (body === undefined) return finish(toReply(notJson()), admission.headers);
  if (!isObject(body) && !Array.isArray(body))
    return finish(toReply(invalid('the body must be an object')), admission.headers);
  const result: Reply | Refusal = route.handler(hub, {
    call,
    body: isObject(body) ? body : {},
    list,
    access,
  });
  return finish(isRefusal(result) ? toReply(result) : result, admission.headers);
}

/** Adds the correlation id, to error bodies too, and the rate-limit headers. */
function finish(reply: Reply, headers: Record<string, string>): Reply {
  const id = randomUUID();
  const all = { 'x-hubspot-correlation-id': id, ...headers, ...reply.headers };
  const { body } = reply;
  if (!isObject(body) || body['status'] === undefined || reply.status < 400)
    return { ...reply, headers: all };
  return json(reply.status, { ...body, correlationId: id } satisfies JsonObject, all);
}

/** The plural name of the object a path is about. */
function objectOf(hub: Hub, call: Call): string | undefined {
  const [, first, , type] = canonicalPath(call.path).split('/');
  const name = first === 'crm' ? type : undefined;
  return name === undefined ? undefined : hub.portal.schema.find(decodeURIComponent(name))?.plural;
}

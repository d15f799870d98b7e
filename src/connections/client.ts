import { apart } from '../kit/db/deeds.ts';
import type { Ground } from '../kit/ground.ts';
import { sendHttp, type HttpAnswer, type HttpRequest, type HttpResult } from '../kit/http/client.ts';
import { newId } from '../kit/ids.ts';
import { declareLatency } from '../kit/metrics.ts';
import type { ProviderClient, ProviderExchange, ProviderRequest } from '../providers/index.ts';
import type { Credential } from './credentials/index.ts';

export const providerCalls = declareLatency(
  'svc_provider_call_duration_seconds',
  'Time of a call to a provider.',
  ['provider', 'outcome'],
);

export interface ClientDeps {
  ground: Ground;
  /** A label of the metrics: a key of the catalogue. */
  provider: string;
  /** The customer, of those who share the provider. */
  whose: string;
  credential(): Promise<Credential>;
  renew(generation: number): Promise<Credential>;
  markWorking(): void;
  /** Told every answer, and the generation of the credentials that the call carried: the connection's budget lives from them. */
  observe(answer: HttpAnswer, generation: number): void;
}

/** Speaks to a provider as one connection. Throws only for credentials that do not work or cannot be had; never for an answer. */
export function createProviderClient(deps: ClientDeps): ProviderClient {
  return {
    // Tokens that are renewed on the way, and what is noted of the connection, are nothing that the caller asked for.
    send: (request, maySend, told) => apart(() => send(deps, { request, maySend, told })),
  };
}

async function send(deps: ClientDeps, call: Call): Promise<HttpResult> {
  const credential = await deps.credential();
  const first = await sendOnce(deps, credential, call);
  if (!isUnauthorized(first)) {
    if ('answer' in first && first.answer.status < 400) deps.markWorking();
    return first;
  }
  // A 401 is known not to have been applied, so one repetition is safe.
  const renewed = await deps.renew(credential.generation);
  if (renewed.generation === credential.generation) return first;
  const second = await sendOnce(deps, renewed, call);
  // Throws when the new one is dead, too.
  if (isUnauthorized(second)) await deps.renew(renewed.generation);
  if ('answer' in second && second.answer.status < 400) deps.markWorking();
  return second;
}

function isUnauthorized(result: HttpResult): boolean {
  return 'answer' in result && result.answer.status === 401;
}

interface Call {
  request: ProviderRequest;
  maySend: (() => boolean) | undefined;
  told: ((exchange: ProviderExchange) => void) | undefined;
}

async function sendOnce(
  { ground, provider, whose, ...deps }: ClientDeps,
  credential: Credential,
  { request, maySend, told }: Call,
): Promise<HttpResult> {
  if (hasDotSegment(request.path)) return outside;
  const done = providerCalls.in(ground.metrics).startTimer({ provider });
  const [id, startedAt] = [newId(), performance.now()];
  const result = await sendHttp(ground.egress, toHttp(credential, request), {
    timeoutMs: ground.limits.providerCallMs,
    whose,
    maySend,
  });
  done({ outcome: 'answer' in result ? `${Math.floor(result.answer.status / 100)}xx` : result.fault.kind });
  const totalMs = performance.now() - startedAt;
  told?.({ id, request: withoutCredential(credential, request), result, totalMs });
  if ('answer' in result) deps.observe(result.answer, credential.generation);
  return result;
}

const outside: HttpResult = {
  fault: {
    kind: 'refused',
    sent: false,
    message: 'the path has a segment . or .., which would lead elsewhere than it says',
  },
};

/** As a URL parser reads it: with `\\` for `/`, `%2e` for a dot, and without tabs and line ends. */
function hasDotSegment(path: string): boolean {
  const [segments = ''] = path.replaceAll(/[\t\r\n]/g, '').split(/[?#]/, 1);
  return segments.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}

/** The path is appended to the base, never resolved against it: no path can lead to another host. */
function toHttp(credential: Credential, request: ProviderRequest): HttpRequest {
  if (!request.path.startsWith('/')) throw new Error('the path of a provider request starts with a slash');
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  return {
    method: request.method,
    url: addQuery(`${credential.origin}${credential.basePath}${request.path}`, credential.query),
    headers: { ...ownHeaders(request), ...lowerCased(credential.headers) },
    ...(body === undefined ? {} : { body }),
  };
}

function ownHeaders({ headers, body }: ProviderRequest): Record<string, string> {
  return {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...lowerCased(headers),
  };
}

/** As it is sent, with all that is the same whoever sends it. */
function withoutCredential(credential: Credential, request: ProviderRequest): ProviderRequest {
  const secret = Object.keys(lowerCased(credential.headers));
  const told = Object.entries(ownHeaders(request)).filter(([name]) => !secret.includes(name));
  return { ...request, headers: Object.fromEntries(told) };
}

/** One spelling of each name, so that a forwarded header cannot stand beside the credential's. */
function lowerCased(headers: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function addQuery(url: string, query: Record<string, string> | undefined): string {
  if (!query) return url;
  const added = new URLSearchParams(query).toString();
  return `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

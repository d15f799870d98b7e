import {
  allowInsecureRequests,
  ClientSecretPost,
  customFetch,
  genericTokenEndpointRequest,
  None,
  type ClientAuth,
} from 'oauth4webapi';
import type { Ground } from '../../kit/ground.ts';
import {
  headerOf,
  sendHttp,
  type HttpAnswer,
  type HttpRequest,
  type HttpResult,
  type SendOptions,
  type TransportFault,
} from '../../kit/http/client.ts';
import type { ProviderAnswerSummary } from '../../kit/problem.ts';
import {
  judgeTokenError,
  providerUrl,
  retryAfterMs,
  signInUrlsOf,
  withoutSecrets,
  type ConnectionPlace,
  type Provider,
} from '../../providers/index.ts';
import { readTokenAnswer, type TokenAnswer } from './token-answer.ts';

/** The OAuth client that asks. */
export interface TokenClient {
  clientId: string;
  /** Missing where an assertion stands for it. */
  clientSecret?: string;
}

/** One request to a token endpoint (RFC 6749, 4 and 6). */
export interface TokenGrant {
  type:
    | 'authorization_code'
    | 'refresh_token'
    | 'client_credentials'
    | 'password'
    | 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  params: Record<string, string>;
  scopes: string[] | undefined;
}

/**
 * What a token endpoint answered. `revoked`: the customer's authorization is gone. `config`: the client (the builder's, or
 * the customer's own) is at fault. `unknown`: it said a code that nobody explained. `transient`: it may work later. `egress`:
 * the address is not one that may be called. `withheld`: it was not asked, since it might not be any more.
 */
export type TokenOutcome = Granted | TokenRefusal;

export interface Granted {
  kind: 'granted';
  answer: TokenAnswer;
  /** By performance.now(), when the request was sent. */
  askedAt: number;
}

export interface TokenRefusal {
  kind: 'revoked' | 'config' | 'unknown' | 'transient' | 'egress' | 'withheld';
  /** One sentence, secrets removed. */
  message: string;
  provider?: ProviderAnswerSummary;
  retryAfterMs?: number;
}

/** How long a token endpoint has for its answer: half of the refresh lease, so that a call never outlives that. */
export const tokenTimeoutMs = 45_000;
const maxAnswerBytes = 1024 * 1024;

type TokenOptions = Pick<SendOptions, 'maySend'>;

/**
 * Asks the provider's token endpoint once; `maySend` is asked right before. Throws only for a place that fits no URL of the
 * provider.
 */
export async function requestToken(
  ground: Ground,
  provider: Provider,
  place: ConnectionPlace,
  client: TokenClient,
  grant: TokenGrant,
  options: TokenOptions = {},
): Promise<TokenOutcome> {
  const askedAt = performance.now();
  const sent = await sendGrant(ground, provider, place, client, grant, options);
  if ('fault' in sent)
    return {
      kind: refusedBefore[sent.fault.kind] ?? 'transient',
      message: `the token endpoint did not answer: ${sent.fault.message}`,
    };
  const { answer } = sent;
  const token = answer.status < 300 ? readTokenAnswer(provider, answer.body) : undefined;
  if (token) return { kind: 'granted', answer: token, askedAt };
  return refusalFrom(provider, answer);
}

const refusedBefore: Partial<Record<TransportFault['kind'], TokenRefusal['kind']>> = {
  refused: 'egress',
  withheld: 'withheld',
};

async function sendGrant(
  ground: Ground,
  provider: Provider,
  place: ConnectionPlace,
  client: TokenClient,
  grant: TokenGrant,
  options: TokenOptions,
): Promise<HttpResult> {
  const oauth = provider.oauth2Opts;
  if (!oauth) throw new Error(`${provider.name} has no OAuth`);
  const isRefresh = grant.type === 'refresh_token';
  const { tokenURL = oauth.tokenURL } = signInUrlsOf(provider, place);
  const url = new URL(providerUrl(provider, (isRefresh ? oauth.refreshURL : undefined) ?? tokenURL, place));
  const fixed = (isRefresh ? oauth.refreshParams : undefined) ?? oauth.tokenParams ?? {};
  const filled = Object.entries(fixed).map(([name, text]) => [name, providerUrl(provider, text, place)]);
  const params = { ...Object.fromEntries(filled), ...scopeParam(provider, grant), ...grant.params };
  const received: { result?: HttpResult } = {};
  // The library makes the request; the answer is read by our own rules, since few providers keep to RFC 6749, 5.1.
  await genericTokenEndpointRequest(
    { issuer: url.origin, token_endpoint: url.href },
    { client_id: client.clientId },
    clientAuthOf(client, (isRefresh ? oauth.refreshClientAuth : undefined) ?? oauth.tokenClientAuth),
    grant.type,
    params,
    {
      // http only where the operator pointed the provider at an http origin, such as a simulator.
      [allowInsecureRequests]: provider.origin?.startsWith('http:') ?? false,
      [customFetch]: async (target: string, init: { body?: unknown; headers: Record<string, string> }) => {
        const form = new URLSearchParams(String(init.body));
        received.result = await sendHttp(
          ground.egress,
          tokenRequest(target, init.headers, form, oauth.tokenBody === 'json'),
          { timeoutMs: tokenTimeoutMs, maxAnswerBytes, ...options },
        );
        return new Response(null, { status: 200 });
      },
    },
  );
  if (!received.result) throw new Error('the token request was not sent');
  return received.result;
}

function clientAuthOf({ clientSecret }: TokenClient, where: 'body' | 'basic'): ClientAuth {
  if (clientSecret === undefined) return None();
  return where === 'basic' ? clientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

/**
 * The client by HTTP Basic (RFC 6749, 2.3.1). The library would escape hyphens and dots as well, which the RFC's form
 * encoding does not ask for, and providers that compare the header byte for byte then refuse (Notion's and Airtable's ids).
 */
function clientSecretBasic(secret: string): ClientAuth {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');
  return (_server, client, _body, headers) => {
    const pair = `${encode(client.client_id)}:${encode(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

function tokenRequest(
  url: string,
  headers: Record<string, string>,
  form: URLSearchParams,
  asJson: boolean,
): HttpRequest {
  const body = asJson ? JSON.stringify(Object.fromEntries(form)) : form.toString();
  const type = asJson ? 'application/json' : 'application/x-www-form-urlencoded';
  return { method: 'POST', url, headers: { ...headers, 'content-type': type }, body };
}

function scopeParam(provider: Provider, { scopes }: TokenGrant): { scope?: string } {
  return scopes && scopes.length > 0
    ? { scope: scopes.join(provider.oauth2Opts?.scopeSeparator ?? ' ') }
    : {};
}

function refusalFrom(provider: Provider, answer: HttpAnswer): TokenRefusal {
  const { code, text } = wordsOf(answer.body);
  const kind =
    answer.status < 300 && !code ? 'transient' : judgeTokenError(provider, answer.status, answer.body);
  const message = withoutSecrets(text ?? code ?? `status ${answer.status} without an explanation`);
  const delayMs = retryAfterMs(headerOf(answer, 'retry-after'));
  return {
    kind,
    message,
    provider: { status: answer.status, ...(code ? { code } : {}), message },
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
  };
}

/** The provider's own words: RFC 6749, 5.2, and HubSpot's `status` and `message`. */
function wordsOf(body: string): { code?: string; text?: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  const words = parsed as Record<string, unknown>;
  const first = (...names: string[]): string | undefined =>
    names.map((name) => words[name]).find((value) => typeof value === 'string');
  const code = first('error', 'status');
  const text = first('error_description', 'message', 'error');
  return { ...(code ? { code } : {}), ...(text ? { text } : {}) };
}

import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import { createTokenStore } from './oauth-tokens.ts';
import type { Grant } from './grant-file.ts';
import type { TokenStore, TokenStoreOptions } from './oauth-tokens.ts';
import type { Random } from './random.ts';

/** A registered OAuth client. No secret means a public client; no redirectUris means any. */
export type App = {
  clientId: string;
  clientSecret?: string;
  redirectUris?: string[];
  scopes?: string[];
  pkce?: 'required' | 'optional';
  rotation?: boolean;
};

export type ConsentMode = 'page' | 'approve' | 'deny';

export type AuthorizeRequest = {
  clientId: string;
  redirectUri: string;
  scopes: string[];
  state: string | null;
  challenge: string | null;
  challengeMethod: string | null;
  account: string;
};

/** Why a token request failed; each provider words it its own way. */
export type TokenFailure =
  | 'client-id'
  | 'client-secret'
  | 'grant-type'
  | 'code'
  | 'redirect'
  | 'verifier'
  | 'refresh'
  | 'reused'
  | 'scopes';

export type TokenRequest = { params: URLSearchParams; authorization?: string | undefined };
export type Refused = { ok: false; reason: TokenFailure };
export type Granted = {
  ok: true;
  grant: Grant;
  refreshToken: string;
  accessToken: string;
  expiresAt: number;
};

export type OAuth = {
  consent: { mode: ConsentMode; account?: string };
  apps: Map<string, App>;
  tokens: TokenStore;
  /** Undefined when the request may go on to consent. `redirect` false: show, do not send back. */
  checkAuthorize: (request: AuthorizeRequest) => { error: string; redirect: boolean } | undefined;
  /** Mints a single-use code, good for ten minutes, for an approved request. */
  approve: (request: AuthorizeRequest) => string;
  /** Client id and secret from the form body or a Basic header, checked. */
  client: (request: TokenRequest) => { ok: true; clientId: string } | Refused;
  exchangeCode: (request: TokenRequest) => Granted | Refused;
  refresh: (request: TokenRequest) => Granted | Refused;
  reset: () => void;
};

export type OAuthOptions = TokenStoreOptions & { strictApps?: boolean };

type Code = { request: AuthorizeRequest; expiresAt: number };

const CODE_LIFE_MS = 600_000;

/** The OAuth rules that HubSpot and Salesforce share. */
export function createOAuth(ground: { clock: Clock; random: Random }, options: OAuthOptions): OAuth {
  const codes = new Map<string, Code>();
  const tokens = createTokenStore(ground, options);
  const apps = new Map<string, App>();
  const open = (): boolean => apps.size === 0 && options.strictApps !== true;
  const consent: OAuth['consent'] = { mode: 'approve' };
  function approve(request: AuthorizeRequest): string {
    const code = ground.random.uuid();
    codes.set(code, { request, expiresAt: ground.clock.now() + CODE_LIFE_MS });
    return code;
  }
  function exchangeCode(request: TokenRequest): Granted | Refused {
    const client = findClient(apps, open(), request);
    if (!client.ok) return client;
    const { params } = request;
    const code = codes.get(params.get('code') ?? '');
    if (!code || code.request.clientId !== client.clientId || code.expiresAt <= ground.clock.now())
      return no('code');
    if (code.request.redirectUri !== params.get('redirect_uri')) return no('redirect');
    if (!verifierMatches(code.request.challenge, params.get('code_verifier'))) return no('verifier');
    codes.delete(params.get('code') ?? '');
    return granted(tokens.grant(code.request));
  }
  function refresh(request: TokenRequest): Granted | Refused {
    const client = findClient(apps, open(), request);
    if (!client.ok) return client;
    const rotate = apps.get(client.clientId)?.rotation;
    const outcome = tokens.refresh(request.params.get('refresh_token') ?? '', client.clientId, rotate);
    return typeof outcome === 'string' ? no(outcome) : granted(outcome);
  }
  function granted(grant: Grant): Granted {
    const access = tokens.issueAccess(grant);
    return {
      ok: true,
      grant,
      refreshToken: grant.refreshToken,
      accessToken: access.token,
      expiresAt: access.expiresAt,
    };
  }
  function reset(): void {
    codes.clear();
    apps.clear();
    tokens.clear();
    consent.mode = 'approve';
    delete consent.account;
  }
  return {
    consent,
    apps,
    tokens,
    checkAuthorize: (request) => checkAuthorize(apps, open(), request),
    approve,
    client: (request) => findClient(apps, open(), request),
    exchangeCode,
    refresh,
    reset,
  };
}

function no(reason: TokenFailure): Refused {
  return { ok: false, reason };
}

function findClient(
  apps: Map<string, App>,
  open: boolean,
  request: TokenRequest,
): { ok: true; clientId: string } | Refused {
  const given = credentials(request);
  if (!given.id) return no('client-id');
  const app = apps.get(given.id);
  if (!app) return open ? { ok: true, clientId: given.id } : no('client-id');
  if (app.clientSecret !== undefined && app.clientSecret !== given.secret) return no('client-secret');
  return { ok: true, clientId: given.id };
}

function credentials(request: TokenRequest): { id: string; secret: string } {
  const [scheme, encoded] = (request.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic' || !encoded) {
    return { id: request.params.get('client_id') ?? '', secret: request.params.get('client_secret') ?? '' };
  }
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return { id: formDecode(pair.slice(0, colon)), secret: formDecode(pair.slice(colon + 1)) };
}

/** RFC 6749, 2.3.1: both halves of a Basic credential are form-encoded. */
function formDecode(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? '';
}

function checkAuthorize(
  apps: Map<string, App>,
  open: boolean,
  request: AuthorizeRequest,
): { error: string; redirect: boolean } | undefined {
  const app = apps.get(request.clientId);
  if (!request.clientId || (!app && !open)) return { error: 'unknown client_id', redirect: false };
  if (!URL.canParse(request.redirectUri))
    return { error: 'missing or invalid redirect_uri', redirect: false };
  if (app?.redirectUris?.length && !app.redirectUris.includes(request.redirectUri)) {
    return { error: 'redirect_uri does not match the app', redirect: false };
  }
  const allowed = app?.scopes;
  if (allowed && request.scopes.some((scope) => !allowed.includes(scope)))
    return { error: 'invalid_scope', redirect: true };
  if (app?.pkce === 'required' && !request.challenge) return { error: 'invalid_request', redirect: true };
  if (request.challengeMethod && request.challengeMethod !== 'S256')
    return { error: 'invalid_request', redirect: true };
  return undefined;
}

/** A challenge without a method means S256; a verifier without a challenge is ignored. */
function verifierMatches(challenge: string | null, verifier: string | null): boolean {
  if (!challenge) return true;
  if (!verifier) return false;
  return createHash('sha256').update(verifier).digest('base64url') === challenge.replace(/=+$/, '');
}

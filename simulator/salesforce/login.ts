import { createHmac, verify } from 'node:crypto';
import {
  authorize,
  empty,
  formParams,
  isObject,
  json,
  type AccessToken,
  type Call,
  type Grant,
  type OAuth,
  type Reply,
  type TokenFailure,
  type TokenRequest,
} from '../kit/index.ts';
import type { Org } from './org.ts';
import { adminUsername, ensureUser } from './users.ts';

export const defaultScopes = ['api', 'refresh_token', 'id'];

const failures: Record<TokenFailure, [string, string]> = {
  'client-id': ['invalid_client_id', 'client identifier invalid'],
  'client-secret': ['invalid_client', 'invalid client credentials'],
  'grant-type': ['unsupported_grant_type', 'grant type not supported'],
  code: ['invalid_grant', 'expired authorization code'],
  redirect: ['redirect_uri_mismatch', 'redirect_uri must match configuration'],
  verifier: ['invalid_grant', 'invalid code verifier'],
  refresh: ['invalid_grant', 'expired access/refresh token'],
  reused: ['invalid_grant', 'expired access/refresh token'],
  scopes: ['invalid_scope', 'the requested scope is not allowed'],
};

/** Answers /services/oauth2/…; undefined when the path is none of its own. */
export function serveLogin(org: Org, oauth: OAuth, call: Call): Reply | undefined {
  const service = /^\/services\/oauth2\/([a-z]+)\/?$/.exec(call.path)?.[1];
  if (service === 'authorize') {
    return authorize(call, oauth, { provider: 'Salesforce', defaultAccount: adminUsername, defaultScopes });
  }
  if (service === 'revoke') return revoke(oauth, call);
  if (service === 'introspect') return introspect(org, oauth, call);
  if (service !== 'token') return undefined;
  return call.method === 'POST' ? token(org, oauth, call) : refuse('invalid_request', 'must use HTTP POST');
}

function refuse(error: string, description: string): Reply {
  return json(400, { error, error_description: description });
}

function failed(reason: TokenFailure): Reply {
  return refuse(...failures[reason]);
}

function token(org: Org, oauth: OAuth, call: Call): Reply {
  const request: TokenRequest = { params: formParams(call), authorization: call.headers.authorization };
  const type = request.params.get('grant_type');
  if (type === 'client_credentials') return clientCredentials(org, oauth, request);
  if (type === 'urn:ietf:params:oauth:grant-type:jwt-bearer') return jwtBearer(org, oauth, request);
  if (type !== 'authorization_code' && type !== 'refresh_token') return failed('grant-type');
  const outcome = type === 'refresh_token' ? oauth.refresh(request) : oauth.exchangeCode(request);
  if (!outcome.ok) return failed(outcome.reason);
  const fresh = outcome.refreshToken !== request.params.get('refresh_token');
  return granted(org, outcome.accessToken, outcome.grant, fresh ? outcome.refreshToken : null);
}

/** The token answer: no `expires_in`, own host in `instance_url` and `id`. */
function granted(org: Org, accessToken: string, grant: Grant, refreshToken: string | null): Reply {
  const userId = String(ensureUser(org, grant.account)['Id']);
  const id = identityUrl(org, userId);
  const issuedAt = String(org.ground.clock.now());
  const offline = grant.scopes.some((scope) => scope === 'refresh_token' || scope === 'offline_access');
  return json(200, {
    access_token: accessToken,
    ...(refreshToken && offline ? { refresh_token: refreshToken } : {}),
    signature: createHmac('sha256', 'simulator')
      .update(id + issuedAt)
      .digest('base64'),
    scope: grant.scopes.join(' '),
    instance_url: org.ground.url,
    id,
    token_type: 'Bearer',
    issued_at: issuedAt,
  });
}

export function identityUrl(org: Org, userId: string): string {
  return `${org.ground.url}/id/${org.id}/${userId}`;
}

function clientCredentials(org: Org, oauth: OAuth, request: TokenRequest): Reply {
  const client = oauth.client(request);
  if (!client.ok) return failed(client.reason);
  return bare(org, oauth, client.clientId, oauth.consent.account ?? adminUsername);
}

/** A token without a refresh half. */
function bare(org: Org, oauth: OAuth, clientId: string, account: string): Reply {
  const scopes = oauth.apps.get(clientId)?.scopes ?? ['api', 'id'];
  const access = oauth.tokens.issueBare({ clientId, account, scopes });
  return granted(org, access.token, access.grant, null);
}

const jwtLifeSeconds = 300;

/** JWT bearer: the app must have been registered with its certificate, as `publicKey`. */
function jwtBearer(org: Org, oauth: OAuth, request: TokenRequest): Reply {
  const [head = '', body = '', signature = ''] = (request.params.get('assertion') ?? '').split('.');
  const header = decode(head);
  const claims = decode(body);
  if (header?.['alg'] !== 'RS256' || !claims) return refuse('invalid_grant', 'invalid assertion');
  const clientId = typeof claims['iss'] === 'string' ? claims['iss'] : '';
  const client = oauth.client({ params: new URLSearchParams({ client_id: clientId }) });
  if (!client.ok && client.reason === 'client-id') return failed(client.reason);
  const app: object = oauth.apps.get(clientId) ?? {};
  const key = 'publicKey' in app && typeof app.publicKey === 'string' ? app.publicKey : undefined;
  const signed = Buffer.from(`${head}.${body}`);
  if (!key || !verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) {
    return refuse('invalid_grant', 'invalid assertion');
  }
  const hosts = [org.ground.url, 'https://login.salesforce.com', 'https://test.salesforce.com'];
  if (!hosts.includes(String(claims['aud']))) return refuse('invalid_grant', 'audience is invalid');
  const left = Number(claims['exp']) - org.ground.clock.now() / 1000;
  if (!(left > 0) || left > jwtLifeSeconds)
    return refuse('invalid_grant', 'invalid assertion: expired or too long-lived');
  if (typeof claims['sub'] !== 'string') return refuse('invalid_grant', "user hasn't approved this consumer");
  return bare(org, oauth, clientId, claims['sub']);
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A refresh token takes its access tokens along; an access token goes alone. */
function revoke(oauth: OAuth, call: Call): Reply {
  const text = formParams(call).get('token') ?? '';
  const grant = oauth.tokens.grantOf(text);
  if (grant) {
    oauth.tokens.revokeGrant(grant);
    return empty(200);
  }
  const access = oauth.tokens.access(text);
  if (!access || access.revoked) return refuse('invalid_token', 'invalid token');
  oauth.tokens.revokeAccess({ token: text });
  return empty(200);
}

/** RFC 7662; unknown tokens and tokens of other apps are just not active. */
function introspect(org: Org, oauth: OAuth, call: Call): Reply {
  const params = formParams(call);
  const client = oauth.client({ params, authorization: call.headers.authorization });
  if (!client.ok)
    return json(401, { error: 'invalid_client', error_description: 'invalid client credentials' });
  const text = params.get('token') ?? '';
  const now = org.ground.clock.now();
  const access = oauth.tokens.access(text);
  if (access && !access.revoked && access.expiresAt > now) {
    return json(200, introspected(org, access.grant, 'access_token', times(access)));
  }
  const grant = oauth.tokens.grantOf(text);
  if (grant)
    return json(200, introspected(org, grant, 'refresh_token', { iat: Math.floor(grant.createdAt / 1000) }));
  return json(200, { active: false });
}

function times(access: AccessToken): Record<string, number> {
  const iat = Math.floor(access.issuedAt / 1000);
  return { exp: Math.floor(access.expiresAt / 1000), iat, nbf: iat };
}

function introspected(
  org: Org,
  grant: Grant,
  type: string,
  at: Record<string, number>,
): Record<string, unknown> {
  const userId = String(ensureUser(org, grant.account)['Id']);
  return {
    active: true,
    scope: grant.scopes.join(' '),
    client_id: grant.clientId,
    username: grant.account,
    sub: identityUrl(org, userId),
    token_type: type,
    ...at,
  };
}

import { authorize, createOAuth, empty, formParams, json } from '../kit/index.ts';
import type {
  AccessToken,
  Call,
  Grant,
  Granted,
  Ground,
  JsonObject,
  OAuth,
  Reply,
  TokenFailure,
} from '../kit/index.ts';
import { notFound, toReply } from './errors.ts';
import { DEFAULT_PORTAL } from './hub.ts';
import type { Hub, HubCall } from './hub.ts';
import { ALL_SCOPES } from './scopes.ts';

/** HubSpot's tokens may exceed 300 characters; these do, so that a short column is noticed. */
const ACCESS_LENGTH = 320;
const USER = { user: 'ada.lovelace@example.com', user_id: 9586500, hub_domain: 'simulated.example.com' };
const APP_ID = 1160452;

/** HubSpot's tokens: one refresh token per app and portal, which is never rotated and outlives its access tokens. */
export function createHubspotOAuth(
  ground: Ground,
  { strictApps, accessLifeMs }: { strictApps: boolean; accessLifeMs: () => number },
): OAuth {
  return createOAuth(ground, {
    accessLifeMs,
    mintAccess: (random) => `CI${random.text(ACCESS_LENGTH - 2)}`,
    mintRefresh: (random) => `na1-${random.uuid()}`,
    sharedGrants: true,
    strictApps,
  });
}

export function authorizePage(hub: Hub, call: Call): Reply {
  const options = { provider: 'HubSpot', defaultAccount: DEFAULT_PORTAL, defaultScopes: ['oauth'] };
  return authorize(call, hub.oauth, options);
}

/** POST token, of any version; the form body is the place for parameters, v1 takes the query too. */
export function tokenEndpoint(hub: Hub, call: Call): Reply {
  const v1 = call.path.includes('/v1/');
  const params = v1 ? formParams(call) : new URLSearchParams(call.text);
  const request = { params, authorization: call.headers.authorization };
  switch (params.get('grant_type') ?? '') {
    case 'authorization_code': {
      const outcome = hub.oauth.exchangeCode(request);
      return outcome.ok ? tokenAnswer(hub, outcome, v1) : tokenError(outcome.reason, v1);
    }
    case 'refresh_token': {
      const known = hub.oauth.tokens.grantOf(params.get('refresh_token') ?? '');
      if (known && hub.settings.goneAccounts.includes(known.account)) return badHub(v1);
      const outcome = hub.oauth.refresh(request);
      return outcome.ok ? tokenAnswer(hub, outcome, v1) : tokenError(outcome.reason, v1);
    }
    case 'client_credentials': {
      const client = hub.oauth.client(request);
      return client.ok ? appToken(hub, client.clientId, params) : tokenError(client.reason, v1);
    }
    default:
      return tokenError('grant-type', v1);
  }
}

function tokenAnswer(hub: Hub, outcome: Granted, v1: boolean): Reply {
  const { grant, accessToken, refreshToken, expiresAt } = outcome;
  const seconds = Math.round((expiresAt - hub.ground.clock.now()) / 1000);
  const base = {
    token_type: 'bearer',
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: seconds,
  };
  if (v1) return json(200, base);
  const { account, scopes } = grant;
  return json(200, {
    ...base,
    hub_id: Number(account),
    user_id: USER.user_id,
    scopes,
    token_use: 'access_token',
  });
}

function appToken(hub: Hub, clientId: string, params: URLSearchParams): Reply {
  const scopes = (params.get('scope') ?? '').split(' ').filter(Boolean);
  const access = hub.oauth.tokens.issueBare({ clientId, account: DEFAULT_PORTAL, scopes });
  return json(200, {
    token_type: 'bearer',
    access_token: access.token,
    expires_in: hub.settings.accessLifeMs / 1000,
    scopes,
  });
}

type TokenError = { status: string; error: string; message: string };

const ERRORS: Record<TokenFailure, TokenError> = {
  'client-id': { status: 'BAD_CLIENT_ID', error: 'invalid_client', message: 'missing or unknown client id' },
  'client-secret': {
    status: 'BAD_CLIENT_SECRET',
    error: 'invalid_client',
    message: 'missing or invalid client secret',
  },
  'grant-type': {
    status: 'BAD_GRANT_TYPE',
    error: 'unsupported_grant_type',
    message: 'missing or unknown grant type',
  },
  code: { status: 'BAD_AUTH_CODE', error: 'invalid_grant', message: 'missing or invalid auth code' },
  redirect: {
    status: 'BAD_REDIRECT_URI',
    error: 'invalid_request',
    message: 'missing or invalid redirect uri',
  },
  verifier: {
    status: 'BAD_CODE_VERIFIER',
    error: 'invalid_request',
    message: 'missing or invalid code verifier',
  },
  refresh: {
    status: 'BAD_REFRESH_TOKEN',
    error: 'invalid_grant',
    message: 'missing or invalid refresh token',
  },
  reused: {
    status: 'BAD_REFRESH_TOKEN',
    error: 'invalid_grant',
    message: 'missing or invalid refresh token',
  },
  scopes: { status: 'BAD_SCOPES', error: 'invalid_scope', message: 'missing or invalid scopes' },
};

/** `error` and `error_description` are missing on v1. */
function tokenError(reason: TokenFailure, v1: boolean): Reply {
  return errorReply(ERRORS[reason], v1);
}

function badHub(v1: boolean): Reply {
  return errorReply({ status: 'BAD_HUB', error: 'access_denied', message: 'the account is gone' }, v1);
}

function errorReply({ status, error, message }: TokenError, v1: boolean): Reply {
  return json(400, v1 ? { status, message } : { status, message, error, error_description: message });
}

export function accessTokenInfo(hub: Hub, call: Call): Reply {
  const access = hub.oauth.tokens.access(call.params['token'] ?? '');
  const live = liveAccess(hub, access);
  return live ? json(200, { ...describeAccess(hub, live), token_type: 'access' }) : toReply(notFound());
}

export function refreshTokenInfo(hub: Hub, call: Call): Reply {
  const grant = hub.oauth.tokens.grantOf(call.params['token'] ?? '');
  return grant ? json(200, describeGrant(grant)) : toReply(notFound());
}

/** Access tokens already given out stay good until they expire. */
export function deleteRefreshToken(hub: Hub, call: Call): Reply {
  const grant = hub.oauth.tokens.grantOf(call.params['token'] ?? '');
  if (!grant) return toReply(notFound());
  hub.oauth.tokens.revokeGrant(grant);
  return empty(204);
}

export function introspect(hub: Hub, call: Call): Reply {
  const params = formParams(call);
  const client = hub.oauth.client({ params, authorization: call.headers.authorization });
  if (!client.ok) return tokenError(client.reason, false);
  const token = params.get('token') ?? '';
  const access = liveAccess(hub, hub.oauth.tokens.access(token));
  if (access) return json(200, { active: true, token_use: 'access_token', ...describeAccess(hub, access) });
  const grant = hub.oauth.tokens.grantOf(token);
  return json(
    200,
    grant ? { active: true, token_use: 'refresh_token', ...describeGrant(grant) } : { active: false },
  );
}

export function revokeToken(hub: Hub, call: Call): Reply {
  const params = formParams(call);
  const client = hub.oauth.client({ params, authorization: call.headers.authorization });
  if (!client.ok) return tokenError(client.reason, false);
  const token = params.get('token') ?? '';
  const grant = hub.oauth.tokens.grantOf(token);
  if (grant) hub.oauth.tokens.revokeGrant(grant);
  else if (hub.oauth.tokens.access(token)) hub.oauth.tokens.revokeAccess({ token });
  return json(200, {});
}

/** Uninstalling the app ends its refresh token and its access tokens at once. */
export function uninstall(hub: Hub, { access }: HubCall): Reply {
  hub.oauth.tokens.revokeGrant(access.grant);
  hub.oauth.tokens.revokeAccess({ account: access.grant.account, clientId: access.grant.clientId });
  return empty(204);
}

function liveAccess(hub: Hub, access: AccessToken | undefined): AccessToken | undefined {
  return access && !access.revoked && access.expiresAt > hub.ground.clock.now() ? access : undefined;
}

function describeAccess(hub: Hub, access: AccessToken): JsonObject {
  const { token, grant, scopes, expiresAt } = access;
  const expires_in = Math.round((expiresAt - hub.ground.clock.now()) / 1000);
  return {
    token,
    ...USER,
    hub_id: Number(grant.account),
    app_id: APP_ID,
    client_id: grant.clientId,
    scopes,
    expires_in,
  };
}

function describeGrant(grant: Grant): JsonObject {
  const { refreshToken, account, clientId, scopes } = grant;
  return {
    token: refreshToken,
    ...USER,
    hub_id: Number(account),
    client_id: clientId,
    scopes,
    token_type: 'refresh',
  };
}

/** What tokens minted by the control API may do: everything. */
export const DEFAULT_SCOPES = ALL_SCOPES;

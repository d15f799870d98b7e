import type { AccessToken, Call } from '../kit/index.ts';
import { refuse } from './errors.ts';
import type { Refusal } from './errors.ts';
import { DEFAULT_PORTAL } from './hub.ts';
import type { Hub } from './hub.ts';
import { ALL_SCOPES } from './scopes.ts';

const DAY_MS = 86_400_000;

/** The token of a call, or the 401 that it gets. */
export function authenticate(hub: Hub, call: Call): AccessToken | Refusal {
  const [scheme, token] = (call.headers.authorization ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token || !/^[\w.-]{8,}$/.test(token)) return unauthenticated();
  if (hub.privateToken !== undefined && token === hub.privateToken) return privateAccess(token);
  const access = hub.oauth.tokens.access(token);
  const now = hub.ground.clock.now();
  // An unknown token is answered like one that expired at the epoch.
  if (!access) return expired(0, now);
  if (access.revoked) return unauthenticated();
  return access.expiresAt > now ? access : expired(access.expiresAt, now);
}

function unauthenticated(): Refusal {
  const message =
    'Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more details at https://developers.hubspot.com/docs/methods/auth/oauth-overview';
  return refuse(401, message, 'INVALID_AUTHENTICATION');
}

function expired(at: number, now: number): Refusal {
  const days = Math.floor((now - at) / DAY_MS);
  const ago = days > 0 ? `${days} day(s)` : `${Math.max(0, Math.floor((now - at) / 1000))} second(s)`;
  return refuse(401, `The OAuth token used to make this call expired ${ago} ago.`, 'EXPIRED_AUTHENTICATION', {
    context: { 'expire time': [new Date(at).toISOString()] },
  });
}

/** A private app's token: every scope, no expiry. */
function privateAccess(token: string): AccessToken {
  const grant = {
    id: 0,
    clientId: 'private',
    account: DEFAULT_PORTAL,
    scopes: ALL_SCOPES,
    refreshToken: '',
    revoked: false,
    createdAt: 0,
  };
  return {
    token,
    grant,
    scopes: ALL_SCOPES,
    issuedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    revoked: false,
  };
}

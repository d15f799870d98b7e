import type { Call, OAuth, Reply } from '../../kit/index.ts';
import { ApiError, apiError } from '../errors.ts';
import type { Org } from '../org.ts';
import { transaction, type Transaction } from '../store/store.ts';
import { ensureUser } from '../users.ts';
import { errorReply } from './context.ts';
import { versions } from './metadata.ts';
import { dispatch } from './router.ts';

const dataScopes = new Set(['api', 'full', 'web']);

/** Answers everything under /services/data: session, quota, then the call in its own transaction. */
export function serveData(org: Org, oauth: OAuth, call: Call): Reply {
  if (/^\/services\/data\/?$/.test(call.path)) return versions();
  const now = org.ground.clock.now();
  try {
    const username = authenticate(org, oauth, call, now);
    org.quota.take(now);
    const tx = transaction();
    const userId = String(ensureUser(org, username)['Id']);
    const reply = dispatch({ org, userId, tx }, call);
    commit(org, tx);
    return withHeaders(org, reply, now);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const reply = errorReply(error);
    return error.status === 401 ? reply : withHeaders(org, reply, now);
  }
}

/** The user of a live session; each use in its second half gives it a whole new life. */
function authenticate(org: Org, oauth: OAuth, call: Call, now: number): string {
  const header = call.headers.authorization ?? '';
  const match = /^(?:Bearer|OAuth) +(\S+)$/i.exec(header);
  if (header !== '' && !match) throw apiError(401, 'INVALID_AUTH_HEADER', 'INVALID_HEADER_TYPE');
  const access = oauth.tokens.access(match?.[1] ?? '');
  if (!access || access.revoked || access.expiresAt <= now) {
    throw apiError(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
  }
  if (!access.grant.scopes.some((scope) => dataScopes.has(scope))) {
    throw apiError(401, 'INVALID_SESSION_ID', 'This session is not valid for use with the REST API');
  }
  const life = org.settings.sessionTimeoutMs;
  const sliding = access.expiresAt - access.issuedAt >= life;
  if (sliding && access.expiresAt - now < life / 2) access.expiresAt = now + life;
  return access.grant.account;
}

function commit(org: Org, tx: Transaction): void {
  for (const change of tx.changes) org.ground.ledger.effect(change);
}

function withHeaders(org: Org, reply: Reply, now: number): Reply {
  const headers: Record<string, string> = {
    'set-cookie': 'BrowserId=c2ltdWxhdG9y; path=/; secure; HttpOnly; SameSite=None',
    vary: 'Accept-Encoding',
    'cache-control': 'no-cache,must-revalidate,max-age=0,no-store,private',
    'sforce-limit-info': org.quota.info(now),
  };
  if (reply.body !== undefined) headers['content-type'] = 'application/json;charset=UTF-8';
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

import { STATUS_CODES } from 'node:http';
import type { Provider } from './provider.ts';
import { isObject, objectFrom, valueAt } from './answer.ts';
import type { TokenErrorRule } from './declaration/schema.ts';

/**
 * What a refused token call means. `revoked`: the customer must connect again. `config`: the client is wrong; where it is the
 * builder's, the connection may be fine. `unknown`: a code that nobody explained. `transient`: try again later, as nothing is
 * known of the credentials.
 */
export type TokenErrorMeaning = 'revoked' | 'config' | 'unknown' | 'transient';

// RFC 6749, 5.2, for every provider after its own rules.
const standard: TokenErrorRule[] = [
  { is: ['invalid_grant', 'access_denied'], means: 'revoked' },
  { is: ['invalid_client', 'unauthorized_client', 'invalid_scope'], means: 'config' },
  { is: ['temporarily_unavailable', 'server_error', 'slow_down'], means: 'transient' },
];
const busy = new Set([408, 423, 425, 429, 477]);

/** Judges an answer of a token endpoint that is no success: `body` as text or parsed. The provider's own rules come first, then RFC 6749. */
export function judgeTokenError(provider: Provider, status: number, body: unknown): TokenErrorMeaning {
  if (status >= 500 || busy.has(status)) return 'transient';
  const parsed = typeof body === 'string' ? (objectFrom(body) ?? formFrom(body)) : body;
  if (!isObject(parsed)) return 'transient';
  const rule = [...(provider.tokenErrors ?? []), ...standard].find((one) => fits(one, parsed));
  if (rule) return rule.means;
  return hasErrorCode(status, parsed) ? 'unknown' : 'transient';
}

/** Without an error code (RFC 6749, 5.2) somebody before the token endpoint may have answered. A gateway's `error` repeats the status. */
function hasErrorCode(status: number, { error }: Record<string, unknown>): boolean {
  return typeof error === 'string' && error.toLowerCase() !== STATUS_CODES[status]?.toLowerCase();
}

function fits(rule: TokenErrorRule, body: Record<string, unknown>): boolean {
  const value = valueAt(body, rule.field ?? 'error');
  if (typeof value !== 'string') return false;
  if (rule.is?.includes(value)) return true;
  const lower = value.toLowerCase();
  return rule.contains?.some((part) => lower.includes(part.toLowerCase())) ?? false;
}

/** GitHub answers a form unless asked for JSON. */
function formFrom(text: string): Record<string, string> | undefined {
  return /^[\w.-]+=[^\s<]*$/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

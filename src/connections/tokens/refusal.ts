import { problem, type Problem } from '../../kit/problem.ts';
import type { Provider } from '../../providers/index.ts';
import type { TokenRefusal } from './token.ts';

/** A client of the customer's own is part of the credentials: it is refused as they are, and only for a reason that is known. */
export function asCustomers(outcome: TokenRefusal): TokenRefusal {
  if (outcome.kind === 'config') return { ...outcome, kind: 'revoked' };
  return outcome.kind === 'unknown' ? { ...outcome, kind: 'transient' } : outcome;
}

/** What a token request that is not the customer's fault says to the caller. */
export function refusalOf(outcome: TokenRefusal, provider: Provider): Problem {
  const details = {
    detail: `${provider.displayName} gave no access token: ${outcome.message}`,
    ...(outcome.provider ? { provider: outcome.provider } : {}),
    ...(outcome.retryAfterMs === undefined
      ? {}
      : { retryAfterSeconds: Math.ceil(outcome.retryAfterMs / 1000) }),
  };
  if (outcome.kind === 'egress') return problem('egress-refused', details);
  // A code that nobody explained says nothing of the customer's authorization.
  if (outcome.kind === 'config' || outcome.kind === 'unknown')
    return problem('provider-app-invalid', details);
  if (outcome.kind === 'revoked') return problem('credentials-rejected', details);
  return problem('provider-unreachable', details);
}

import { problem, type Problem } from '../../kit/problem.ts';
import type { Provider } from '../../providers/index.ts';
import type { TokenRefusal } from './token.ts';

/** A client of the customer's own is part of the credentials: it is refused as they are. */
export function asCustomers(outcome: TokenRefusal): TokenRefusal {
  return outcome.kind === 'config' ? { ...outcome, kind: 'revoked' } : outcome;
}

/** What a token request that is not the customer's fault says to the caller. */
export function refusalOf(outcome: TokenRefusal, provider: Provider): Problem {
  const details = {
    detail: `${provider.displayName} gave no access token: ${saidIn(outcome)}`,
    ...(outcome.provider ? { provider: outcome.provider } : {}),
    ...(outcome.retryAfterMs === undefined
      ? {}
      : { retryAfterSeconds: Math.ceil(outcome.retryAfterMs / 1000) }),
  };
  if (outcome.kind === 'egress') return problem('egress-refused', details);
  if (outcome.kind === 'config') return problem('provider-app-invalid', details);
  if (outcome.kind === 'revoked') return problem('credentials-rejected', details);
  // A code that nobody explained blames nobody: it may pass, as maintenance does.
  return problem('provider-unreachable', details);
}

/** With the code that nobody explained: whoever adds a rule for it needs it. */
function saidIn({ kind, message, provider: { code } = {} }: TokenRefusal): string {
  return kind === 'unknown' && code !== undefined && code !== message ? `${message} (${code})` : message;
}

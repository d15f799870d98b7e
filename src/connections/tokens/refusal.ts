import { problem, type Problem } from '../../kit/problem.ts';
import type { Provider } from '../../providers/index.ts';
import type { TokenRefusal } from './token.ts';

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
  if (outcome.kind === 'config') return problem('provider-app-invalid', details);
  if (outcome.kind === 'revoked') return problem('credentials-rejected', details);
  return problem('provider-unreachable', details);
}

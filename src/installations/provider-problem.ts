import type { ProblemCode } from '../kit/problem-catalogue.ts';
import { problem, type Problem } from '../kit/problem.ts';
import type { Failure, FailureCategory } from '../providers/index.ts';

const codes: Record<FailureCategory, ProblemCode> = {
  notFound: 'not-found',
  validation: 'not-found',
  auth: 'connection-bad-credentials',
  permission: 'provider-refused',
  conflict: 'provider-refused',
  rateLimit: 'provider-rate-limited',
  providerDown: 'provider-unreachable',
  unknownOutcome: 'provider-unreachable',
  internal: 'provider-unreachable',
};

interface Wording {
  /** What was asked for, before the provider's sentence. */
  what: string;
  /** The code of what the provider finds wrong with the question. */
  invalid?: ProblemCode;
  /** In place of those of the catalogue. */
  remedies?: Partial<Record<ProblemCode, string>>;
}

/** The problem that a failure at a provider amounts to, for a caller who asked it something and waits. */
export function problemOfFailure(failure: Failure, { what, invalid, remedies = {} }: Wording): Problem {
  const { message, provider, retryAfterMs } = failure;
  const code = codeOf(failure, invalid);
  const remedy = remedies[code];
  return problem(code, {
    detail: `${what}: ${message}`,
    ...(remedy === undefined ? {} : { remedy }),
    ...(provider ? { provider } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  });
}

function codeOf(
  { category, retryable, refusedHere, appInvalid }: Failure,
  invalid: ProblemCode | undefined,
): ProblemCode {
  if (refusedHere) return 'egress-refused';
  if (appInvalid) return 'provider-app-invalid';
  // A renewed token that is refused for now.
  if (category === 'auth' && retryable) return 'provider-unreachable';
  return (category === 'validation' ? invalid : undefined) ?? codes[category];
}

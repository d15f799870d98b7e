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
export function problemOfFailure(
  { category, message, provider, retryAfterMs, refusedHere }: Failure,
  { what, invalid, remedies = {} }: Wording,
): Problem {
  const code = refusedHere
    ? 'egress-refused'
    : ((category === 'validation' ? invalid : undefined) ?? codes[category]);
  const remedy = remedies[code];
  return problem(code, {
    detail: `${what}: ${message}`,
    ...(remedy === undefined ? {} : { remedy }),
    ...(provider ? { provider } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  });
}

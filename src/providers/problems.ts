import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, varying, type ProblemKind } from '../kit/problem-kind.ts';

export const providerProblems = {
  'provider-unknown': kind(
    422,
    'The provider is not in the catalogue',
    'Use a key of GET /v1/providers.',
    'The provider named does not exist in the catalogue. Keys are case-sensitive.',
  ),
  'ability-unsupported': kind(
    422,
    'The provider does not support this',
    'Leave the option away, or use a provider that supports it; `GET /v1/providers/{provider}` says which ones do.',
    'The request uses an option (associations, header forwarding, batch, delete, ifEmpty) or an action that the connector of this provider does not have.',
  ),
  'provider-refused': kind(
    422,
    'The provider refused the record',
    'Correct the record as `provider.message` says.',
    'The provider answered that it will not accept the record. Nothing was changed there.',
  ),
  'provider-rate-limited': kind(
    429,
    'The provider’s rate limit is reached',
    'Send it again, not before `retryAfter`.',
    'The provider answered that too many requests were made. That holds for the connection until `retryAfter`, 24 hours away at the most, or until the customer connects again. Of a write that has an `operationId`, nothing was done; the same `Idempotency-Key` writes it again with `Retry-Failed: true`.',
    true,
  ),
  'provider-unreachable': varying(
    502,
    'The provider cannot be reached',
    'Try again later.',
    'The connection to the provider failed, or its answer could not be understood. Of a write, nothing was done; where it has an `operationId`, the same `Idempotency-Key` writes it again with `Retry-Failed: true`.',
    true,
  ),
  'provider-timeout': varying(
    504,
    'The provider did not answer in time',
    'Look whether it was done before you repeat it. What only reads may be repeated.',
    'The provider did not answer within the limit for one call. What was asked for may be done, or may still be done later. Of writes, an update or a delete may be repeated (`retryable` is true; under its `Idempotency-Key` with `Retry-Failed: true`), a create may not, unless it has an `Idempotency-Key`: under that it is not done twice, and the answer is what became of it. For calls through the proxy svc keeps no keys.',
  ),
  'outcome-unknown': varying(
    502,
    'The outcome is not known',
    'Send the request again later with the same `Idempotency-Key`, where it has one: it is not done twice, and the answer is what became of it by then. Or look the operation up: while it is in progress, the record is still being looked for. Once it has ended and the outcome is still unknown, look at the record in the provider and settle it: POST …/operations/{id}:resolve.',
    'The request was sent, but its answer was lost. The record may have been written or not; it was not sent again. An update or a delete may be repeated (`retryable` is true; under its `Idempotency-Key` with `Retry-Failed: true`), a create may not, unless it has an `Idempotency-Key`: under that it is not done twice, and the answer is what became of it. An update that is written again later comes over what was written since: look at the record first if others write it. An asynchronous write without an `Idempotency-Key` is answered so, too, when the database did not say whether it accepted it.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(providerProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    providerProblems: typeof providerProblems;
  }
}

import { problemKindOf, type ProblemCode } from '../../kit/problem-catalogue.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import {
  unknownOutcome,
  type Failure,
  type FailureCategory,
  type RecordOutcome,
} from '../../providers/index.ts';
import type { WritePlan } from './prepare/plan.ts';
import { leavesTheSame } from './prepare/stored.ts';
import type { WriteResponse } from './schema.ts';

/** What of a plan shows in the answer. */
export type AnsweredPlan = Pick<
  WritePlan,
  'kind' | 'form' | 'objectName' | 'allOrNone' | 'partialOnly' | 'unmapped' | 'dropped'
> & {
  records: readonly { reference?: string }[];
};

/** The answer to the caller of a synchronous write: the table in docs/contract.md, Write. Pure. */
export function answerWrite(
  plan: AnsweredPlan,
  operationId: string,
  outcomes: readonly RecordOutcome[],
): { status: 200 | 422; body: WriteResponse } | { problem: Problem } {
  return plan.form === 'single'
    ? answerSingle(plan, operationId, outcomes[0])
    : answerBatch(plan, operationId, outcomes);
}

type Answer = ReturnType<typeof answerWrite>;
type Result = NonNullable<WriteResponse['result']>;

function answerSingle(plan: AnsweredPlan, operationId: string, outcome: RecordOutcome | undefined): Answer {
  if (outcome?.kind === 'applied')
    return { status: 200, body: { operationId, result: resultOf(plan, 0, outcome), ...warningsOf(plan) } };
  const failure = outcome?.failure ?? unknownOutcome('there is no outcome', false);
  const unreached = problemOf(plan, failure, operationId);
  if (unreached) return { problem: unreached };
  const raw = failure.provider?.message;
  return {
    status: 422,
    body: {
      operationId,
      errors: [shown(plan, failure)],
      result: { success: false },
      ...(raw === undefined ? {} : { rawResponse: raw }),
      ...warningsOf(plan, [failure]),
    },
  };
}

function answerBatch(plan: AnsweredPlan, operationId: string, outcomes: readonly RecordOutcome[]): Answer {
  const results = outcomes.map((outcome, slot) => resultOf(plan, slot, outcome));
  const successCount = results.filter(({ success }) => success).length;
  const failures = outcomes.flatMap((outcome) => (outcome.kind === 'applied' ? [] : [outcome.failure]));
  const first = failures[0];
  const unreached =
    successCount === 0 && first && failures.every(({ category }) => category === first.category)
      ? problemOf(plan, { ...first, retryable: failures.every(({ retryable }) => retryable) }, operationId)
      : undefined;
  if (unreached) return { problem: unreached };
  return {
    status: successCount > 0 ? 200 : 422,
    body: {
      operationId,
      successCount,
      failureCount: results.length - successCount,
      results,
      errors: distinct(failures).map((failure) => shown(plan, failure)),
      ...warningsOf(plan, failures),
    },
  };
}

const mostWarnings = 20;

/** What a provider says of credentials that it does not take seldom tells what helps. */
const connectAgain =
  'the provider did not take the credentials: if the status of the connection (GET /v1/projects/{project}/connections/{connection}) is bad_credentials, the customer has to connect again';

/**
 * HubSpot commits what it can of an update, whatever was asked (§4.2.2); what the customer has not mapped is not sent (§4.2.8). `failures`
 * are those of the records, where they are known.
 */
export function warningsOf(
  {
    partialOnly,
    allOrNone,
    unmapped = [],
    dropped = [],
  }: Pick<WritePlan, 'partialOnly' | 'allOrNone' | 'unmapped' | 'dropped'>,
  failures: readonly Failure[] = [],
): Pick<WriteResponse, 'warnings'> {
  const unauthorized = failures.some(({ category }) => category === 'auth') ? [connectAgain] : [];
  if (!partialOnly && unmapped.length + dropped.length + unauthorized.length === 0) return {};
  const partial =
    partialOnly && allOrNone
      ? ['allOrNone has no effect: batch updates of this provider always give partial success']
      : [];
  const unsent = [
    ...unmapped.map(
      (name) =>
        `${name} was not sent: it is a mapping of the manifest for which this customer has chosen no field (selectedFieldMappings)`,
    ),
    ...dropped.map(
      (name) =>
        `${name} was not sent: neither the manifest nor this customer’s config names it, and the operator has writes of this project send named fields only`,
    ),
  ].slice(0, mostWarnings);
  const warnings = [...unauthorized, ...partial, ...unsent].map((message) => ({ message }));
  return warnings.length > 0 ? { warnings } : {};
}

/** A problem of the write surface, for clients that look for what failed where the other answers of a write have it. */
export function withErrors(body: Record<string, unknown>): Record<string, unknown> {
  return { ...body, errors: [{ message: body['detail'] }] };
}

function resultOf(plan: AnsweredPlan, slot: number, outcome: RecordOutcome): Result {
  const reference = plan.records[slot]?.reference;
  const echoed = reference === undefined ? {} : { reference };
  if (outcome.kind !== 'applied')
    return { success: false, ...echoed, errors: [shown(plan, outcome.failure)] };
  const { recordId, data, created } = outcome;
  return {
    success: true,
    ...(recordId === undefined ? {} : { recordId }),
    ...(data ? { data } : {}),
    ...(created === undefined ? {} : { created }),
    ...echoed,
  };
}

const again = '`Retry-Failed: true` where it has an `Idempotency-Key`';
const sameAnswer = 'without that, this answer comes again';
/** Of what has an operation the key, if there is one, is no longer free. */
const remedies: Partial<Record<ProblemCode, string>> = {
  'provider-rate-limited': `Send the request again, not before \`retryAfter\`, with ${again}: ${sameAnswer}.`,
  'provider-unreachable': `Send the request again later, with ${again}: ${sameAnswer}.`,
  'provider-timeout': `Send the request again, with ${again}: ${sameAnswer}.`,
  'outcome-unknown': `Send the request again, with ${again}: ${sameAnswer}.`,
};

/** Failures for which there is a status of their own: the provider said nothing of the record. */
function problemOf({ kind }: AnsweredPlan, failure: Failure, operationId: string): Problem | undefined {
  const { category, message, provider, retryable, retryAfterMs } = failure;
  const details = {
    detail: message,
    retryable,
    ...(provider ? { provider } : {}),
    ...(retryAfterMs === undefined || !retryable ? {} : { retryAfterSeconds: retryAfterMs / 1000 }),
    extra: { operationId, category },
  };
  if (failure.unreadable) return problem('credentials-unreadable', details);
  if (failure.appInvalid) return problem('provider-app-invalid', details);
  if (failure.refusedHere) return problem('egress-refused', details);
  const code = codeOf(failure);
  if (!code) return undefined;
  const isUnknown = category === 'unknownOutcome';
  const isWrittenAgain = retryable && (!isUnknown || leavesTheSame(kind));
  // The same holds for what was given up after its time.
  const others = isUnknown ? problemKindOf('outcome-unknown').remedy : undefined;
  const remedy = isWrittenAgain ? remedies[code] : others;
  return problem(code, { ...details, ...(remedy === undefined ? {} : { remedy }) });
}

function codeOf({ category, retryable, timedOut }: Failure): ProblemCode | undefined {
  // A renewed token that is refused for now.
  if (category === 'auth' && retryable) return 'provider-unreachable';
  return timedOut ? 'provider-timeout' : problemCodes[category];
}

const problemCodes: Partial<Record<FailureCategory, ProblemCode>> = {
  rateLimit: 'provider-rate-limited',
  providerDown: 'provider-unreachable',
  unknownOutcome: 'outcome-unknown',
  internal: 'internal',
};

/** `error writing <object>: <category>: <the provider's sentence>`, with the members of a write failure. */
function shown(plan: AnsweredPlan, failure: Failure): NonNullable<WriteResponse['errors']>[number] {
  const { category, retryable, provider, message, existingRecordId } = failure;
  return {
    message: `error writing ${plan.objectName}: ${category}: ${message}`,
    category,
    retryable,
    ...(provider ? { provider } : {}),
    ...(existingRecordId === undefined ? {} : { existingRecordId }),
  };
}

function distinct(failures: readonly Failure[]): Failure[] {
  return [
    ...new Map(failures.map((failure) => [`${failure.category} ${failure.message}`, failure])).values(),
  ];
}

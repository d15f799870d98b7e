import type { Problem, ProblemIssue, ProviderAnswer, WriteFailure } from './generated/api.ts';
import type { ProblemCode } from './generated/problem-codes.ts';

/** What this client says where svc could say nothing. */
type OwnCode = 'unreachable' | 'broken-off' | 'unexpected-answer' | 'webhook-invalid';

/** Members that only some problems have. */
interface Details {
  operationId?: string;
  errors?: Partial<WriteFailure>[];
  replayed?: boolean;
}

/** What a `SvcError` is made of. */
export type ProblemInit = Partial<Problem> &
  Details & { code: ProblemCode | OwnCode | (string & {}); status: number; cause?: unknown };

/** Every refusal and failure: an answer of svc (RFC 9457), or what kept an answer from coming. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  /** Stable; `docs/errors` of svc has a page for each. */
  readonly code: ProblemInit['code'];
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** One sentence to act on. */
  readonly detail: string;
  readonly remedy: string;
  readonly requestId: string | undefined;
  /** Whether the same request may be sent again without doing anything twice. */
  readonly retryable: boolean;
  readonly retryAfter: Date | undefined;
  /** Whether an earlier request under the same idempotency key got this answer, and nothing was sent for this one. */
  readonly replayed: boolean;
  /** What is wrong in a request, by path. */
  readonly issues: readonly ProblemIssue[];
  /** What the provider answered, secrets removed. */
  readonly provider: ProviderAnswer | undefined;
  /** Of a write that was accepted before it failed. */
  readonly operationId: string | undefined;
  /** What a write failed of. */
  readonly category: WriteFailure['category'] | undefined;
  /** The failures of the records of a write. */
  readonly errors: readonly Partial<WriteFailure>[];
  /** Of a write: under which it was sent. With it, the same request may be sent again whatever became of this one. */
  idempotencyKey: string | undefined;

  constructor(init: ProblemInit) {
    const { code, status, detail = 'svc did not say why', remedy = '', requestId, errors = [] } = init;
    const where = requestId === undefined ? code : `${code}, request ${requestId}`;
    super(`${[detail, remedy].filter(Boolean).map(asSentence).join(' ')} (${where})`, { cause: init.cause });
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.remedy = remedy;
    this.requestId = requestId;
    this.retryable = init.retryable ?? false;
    this.retryAfter = init.retryAfter === undefined ? undefined : new Date(init.retryAfter);
    this.replayed = init.replayed ?? false;
    this.issues = init.issues ?? [];
    this.provider = init.provider;
    this.operationId = init.operationId;
    this.category = (init['category'] as WriteFailure['category'] | undefined) ?? errors[0]?.category;
    this.errors = errors;
  }
}

/** With a full stop, unless it ends with a sign of its own. */
function asSentence(text: string): string {
  return /[.!?:]$/.test(text) ? text : `${text}.`;
}

/** Of failures that no change of the record mends. */
const remedies: Readonly<Record<string, string>> = {
  auth: 'Let the customer connect the account again: its credentials are not taken any more.',
  permission:
    'Have the provider app ask for a scope that is missing, at the provider and in its `scopes`, and let the customer connect again; or leave away what is not allowed.',
  notFound: 'Check the id of the record, and that it was not deleted at the provider.',
  rateLimit: 'Wait and try again, or write asynchronously: svc then waits by itself.',
  unknownOutcome:
    'Look the operation up before you repeat it; once it has ended, look at the record in the provider and resolve it.',
};

/** The body of an answer that is no success, as far as it can be read. */
export function readProblem(text: string, status: number): ProblemInit | undefined {
  const body = parsed(text);
  if (typeof body?.['code'] === 'string') return { ...(body as unknown as ProblemInit), status };
  const errors = body?.['errors'] as Details['errors'];
  if (!Array.isArray(errors)) return undefined;
  // A write whose records the provider refused: not a problem, but all that there is to say stands in its failures.
  const [first] = errors;
  return {
    code: 'provider-refused',
    status,
    detail: first?.message ?? 'the provider refused the record',
    remedy: remedies[first?.category ?? ''] ?? 'Correct the record as `provider.message` says.',
    retryable: errors.length > 0 && errors.every(({ retryable }) => retryable === true),
    errors,
    ...(typeof body?.['operationId'] === 'string' ? { operationId: body['operationId'] } : {}),
    ...(first?.provider ? { provider: first.provider } : {}),
  };
}

/** What answered was not svc, or not in a way that can be read. */
export function unexpected(
  url: string,
  status: number,
  type: string | null,
  more: Pick<Partial<ProblemInit>, 'cause' | 'remedy' | 'retryable'> = {},
): SvcError {
  return new SvcError({
    code: 'unexpected-answer',
    status,
    detail: `${new URL(url).origin} answered ${status} with ${type ?? 'no content type'}, which svc does not do.`,
    remedy: 'Check `baseUrl`, and what stands between.',
    ...more,
  });
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

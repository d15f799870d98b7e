import { problemKindOf, type ProblemCode } from './problem-catalogue.ts';
import type { ProblemKind } from './problem-kind.ts';

/** One thing wrong with the input: where it stands and what to do. */
export interface Issue {
  in: 'body' | 'path' | 'query' | 'header';
  /** A dotted path with indexes, such as `config.content.write.objects.contacts.objectName`. */
  name: string;
  detail: string;
  value?: unknown;
  /** Where in a text that was sent. */
  line?: number;
  column?: number;
}

/** What another server answered, secrets removed. */
export interface ProviderAnswerSummary {
  status?: number;
  code?: string;
  message?: string;
}

export interface ProblemDetails {
  detail?: string;
  remedy?: string;
  /** Overrides that of the kind. */
  retryable?: boolean;
  issues?: Issue[];
  /** How many further ones were found. */
  moreIssues?: number;
  /** Seconds until a retry makes sense. */
  retryAfterSeconds?: number;
  provider?: ProviderAnswerSummary;
  /** Further members of the body, such as `operationId` or `category`. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** An answer that is a refusal or a failure: thrown by the rules, rendered by the surface (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails) {
    const { about, status } = problemKindOf(code);
    const { stackTraceLimit } = Error;
    // Nobody is told where a refusal was made, and to find it out costs more than all else of one (10 µs).
    if (status < 500) Error.stackTraceLimit = 0;
    super(details.detail ?? about, { cause: details.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.details = details;
  }

  get kind(): ProblemKind {
    return problemKindOf(this.code);
  }

  get status(): number {
    return problemKindOf(this.code).status;
  }

  /** Whether the same request may be sent again. */
  get retryable(): boolean {
    return this.details.retryable ?? problemKindOf(this.code).retryable;
  }
}

/** Makes a problem: `throw problem('not-found', { detail: 'There is no project acme.' })`. */
export function problem(code: ProblemCode, details: ProblemDetails = {}): Problem {
  return new Problem(code, details);
}

/** At most so many issues are shown. */
export const maxIssues = 20;
const maxShown = 200;

/** The refusal of a request for issues found in it; `uncounted`: how many were found besides. */
export function refuse(
  issues: readonly Issue[],
  code: ProblemCode = 'invalid-request',
  uncounted = 0,
): Problem {
  const shown = issues.slice(0, maxIssues).map(shortened);
  const [first] = shown;
  const count = issues.length + uncounted;
  const detail = first ? `${placeOf(first)}: ${first.detail}` : problemKindOf(code).about;
  return problem(code, {
    detail: count > 1 ? `${detail} (and ${count - 1} more)` : detail,
    issues: shown,
    ...(count > shown.length ? { moreIssues: count - shown.length } : {}),
  });
}

/** A fault in the form of a text has a line and no name. */
function placeOf({ name, line, column }: Issue): string {
  if (line === undefined) return name;
  const place = `line ${line}, column ${column ?? 1}`;
  return name === '' ? place : `${name} (${place})`;
}

/** Names and values come from the caller and may be long. */
function shortened(issue: Issue): Issue {
  const { name, detail, value } = issue;
  if (name.length <= maxShown && detail.length <= maxShown * 5 && !isLong(value)) return issue;
  const { value: _value, ...others } = issue;
  const short = { ...others, name: cut(name, maxShown), detail: cut(detail, maxShown * 5) };
  return isLong(value) || value === undefined ? short : { ...short, value };
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && value.length > maxShown;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The body of a problem (RFC 9457). */
export function renderProblem(error: Problem, requestId: string, now = new Date()): Record<string, unknown> {
  const { status, title, remedy } = error.kind;
  const { details, retryable } = error;
  return {
    type: `urn:svc:problem:${error.code}`,
    code: error.code,
    title,
    status,
    detail: error.message,
    remedy: details.remedy ?? remedy,
    requestId,
    retryable,
    time: now.toISOString(),
    ...(details.retryAfterSeconds === undefined
      ? {}
      : { retryAfter: new Date(now.getTime() + details.retryAfterSeconds * 1000).toISOString() }),
    ...(details.issues ? { issues: details.issues } : {}),
    ...(details.moreIssues === undefined ? {} : { moreIssues: details.moreIssues }),
    ...(details.provider ? { provider: details.provider } : {}),
    ...details.extra,
  };
}

import { pause } from './pause.ts';
import { readProblem, SvcError, unexpected, type ProblemInit } from './problem.ts';

/** What `fetch` is called with, beside the URL. */
export interface Sent {
  method: string;
  headers: Headers;
  body?: string | ArrayBuffer;
  /** An answer that leads elsewhere is not followed. */
  redirect: Request['redirect'];
  signal: AbortSignal;
}

/** What is read of an answer: a `Response` is one. */
export type Received = Pick<Response, 'status' | 'ok' | 'headers' | 'body' | 'url' | 'text'>;

export interface TransportOptions {
  /** Stands in for the `fetch` of the platform. */
  fetch?: (url: string, sent: Sent) => Promise<Received>;
  /** How often a request is sent again; 4 unless told. */
  retries?: number;
  /** How long all attempts of a call and the pauses between them may take before no other is begun; 60,000 unless told. */
  retryWithinMs?: number;
  /** How long one attempt may take; 120,000 unless told. */
  timeoutMs?: number;
}

const keyHeader = 'idempotency-key';
export const retryFailedHeader = 'retry-failed';
const firstPauseMs = 250;
const longestPauseMs = 8_000;

/** A call as it is asked for. */
export type Call = Omit<Sent, 'signal'> & { signal?: AbortSignal | undefined };

/** What svc answered, with the whole text unless it is handed on as it comes. */
export interface Answer {
  response: Received;
  text?: string;
}

/** An answer, or what kept it from coming. */
type Attempt =
  | (Answer & { problem: ProblemInit | undefined })
  | { lost: SvcError; retryAfter?: string | null };

/**
 * Sends a request, and sends it again where that does nothing twice: where the answer says `retryable`, and where the answer of
 * what only reads or carries an idempotency key was lost.
 */
export function createTransport(
  options: TransportOptions = {},
): (url: string, call: Call) => Promise<Answer> {
  const { retries = 4, retryWithinMs = 60_000 } = options;
  return async (url, first) => {
    const endAt = Date.now() + retryWithinMs;
    let call = first;
    for (let made = 1; ;) {
      const attempt = await attemptOnce(url, call, options);
      if (!mayRepeat(call, attempt)) return settled(attempt);
      const isKept = 'response' in attempt && isReplayed(attempt.response) && isSpent(attempt.problem);
      // A server of an earlier release answers so for as long as it keeps the key.
      if (isKept && call.headers.has(retryFailedHeader)) return settled(attempt);
      // What is kept of an earlier call was no attempt: nothing was sent for it.
      if (!isKept) {
        const pauseMs = pauseAfter(attempt, made);
        if (made > retries || Date.now() + pauseMs > endAt) return settled(attempt);
        await pause(pauseMs, first.signal);
        made += 1;
      }
      call = nextOf(call, attempt);
    }
  };
}

async function attemptOnce(url: string, call: Call, options: TransportOptions): Promise<Attempt> {
  const { fetch = globalThis.fetch, timeoutMs = 120_000 } = options;
  const late = new AbortController();
  const limit = setTimeout(
    () => late.abort(new DOMException('The answer took too long.', 'TimeoutError')),
    timeoutMs,
  );
  // Of each attempt its own: who listens to one that many share walks through the listeners of all.
  const signal = call.signal ? AbortSignal.any([call.signal, late.signal]) : late.signal;
  try {
    const response = await fetch(url, { ...call, signal });
    const type = response.headers.get('content-type');
    if (response.status < 200 || (response.status >= 300 && response.status < 400))
      throw unexpected(url, response.status, type);
    // Handed on as it comes, however long that takes.
    if (response.ok && isLines(type)) return { response, problem: undefined };
    const text = await response.text();
    const problem = response.ok ? undefined : readProblem(text, response.status);
    // A success without a body is 204; something in between dropped the body of another.
    const isCut = response.ok && text === '' && response.status !== 204;
    if (!isCut && (response.ok || problem)) return { response, text, problem };
    if (!isCut && !isOfOneBetween(response.status)) throw unexpected(url, response.status, type);
    const lost = unexpected(url, response.status, type, {
      ...ofLost(call),
      remedy: `Check \`baseUrl\`, and what stands between; ${lookFirst}`,
    });
    return { lost, retryAfter: response.headers.get('retry-after') };
  } catch (cause) {
    call.signal?.throwIfAborted();
    if (cause instanceof SvcError) throw cause;
    return { lost: unreachable(url, cause, call) };
  } finally {
    clearTimeout(limit);
  }
}

/** What a proxy in front of svc says while svc is away or slow; whether svc did what was asked is not known. */
function isOfOneBetween(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** What may be too long to be held whole. */
function isLines(type: string | null): boolean {
  return type !== null && /^(application\/x-ndjson|text\/csv)\b/.test(type);
}

const lookFirst = 'of a write, look its operation up before you repeat it without its key.';

/** Of a call whose answer was lost: only reading may be repeated by whoever does not know its key. */
const ofLost = ({ method }: Call) => ({ retryable: method === 'GET' });

function unreachable(url: string, cause: unknown, call: Call): SvcError {
  const why =
    cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : '';
  return new SvcError({
    code: 'unreachable',
    status: 0,
    detail: `${new URL(url).origin} gave no answer${why === '' ? '' : `: ${why}`}.`,
    remedy: `Check \`baseUrl\` and that svc runs; ${lookFirst}`,
    ...ofLost(call),
    cause,
  });
}

function mayRepeat({ method, headers }: Call, attempt: Attempt): boolean {
  if ('lost' in attempt) return method === 'GET' || headers.has(keyHeader);
  return attempt.problem?.retryable === true;
}

function settled(attempt: Attempt): Answer {
  if ('lost' in attempt) throw attempt.lost;
  return attempt;
}

/** What the answer asks for, otherwise exponential with full jitter. */
function pauseAfter(attempt: Attempt, made: number): number {
  const asked =
    'lost' in attempt ? (attempt.retryAfter ?? null) : attempt.response.headers.get('retry-after');
  const backoffMs = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** made);
  const askedMs =
    asked === null ? 0 : /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now();
  return Math.max(backoffMs, Number.isNaN(askedMs) ? 0 : askedMs);
}

/**
 * The same request under the same key. Where the key already stands for an operation that failed, svc would answer with that failure for as
 * long as it is kept; asked to, it writes again in place of that operation, where that may be repeated.
 */
function nextOf(call: Call, attempt: Attempt): Call {
  if (!call.headers.has(keyHeader) || 'lost' in attempt || !isSpent(attempt.problem)) return call;
  const headers = new Headers(call.headers);
  headers.set(retryFailedHeader, 'true');
  return { ...call, headers };
}

/** Whether an answer is the one that an earlier request got under the same key. */
export function isReplayed({ headers }: Pick<Received, 'headers'>): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

function isSpent(problem: ProblemInit | undefined): boolean {
  return problem?.operationId !== undefined && problem.code !== 'idempotency-key-in-flight';
}

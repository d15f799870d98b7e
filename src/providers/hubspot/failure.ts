import { headerOf, type HttpAnswer } from '../../kit/http/client.ts';
import type { ProviderAnswerSummary } from '../../kit/problem.ts';
import { bodyOf, isObject, isSuccess, objectsOf, textOf, textsOf, type JsonObject } from '../answer.ts';
import {
  final,
  isRedirect,
  later,
  redirected,
  retryAfterMs,
  withoutSecrets,
  type Failure,
  type Judgement,
} from '../failure.ts';

/** By another process; HubSpot asks to wait two seconds or more. */
const lock = later('conflict', 2_000);

const byStatus: Record<number, Judgement> = {
  401: final('auth'),
  403: final('permission'),
  404: final('notFound'),
  408: later('providerDown'),
  409: final('conflict'),
  423: lock,
  // The account is moved between data centres, for up to a day; Retry-After says how long.
  477: later('providerDown', 60_000),
};

/** By the category of a body: of a whole answer of status 400, or of one entry of a multi-status answer. */
const byCategory = new Map<string, Judgement>(
  Object.entries({
    VALIDATION_ERROR: final('validation'),
    CONFLICT: final('conflict'),
    OBJECT_ALREADY_EXISTS: final('conflict'),
    OBJECT_NOT_FOUND: final('notFound'),
    MISSING_SCOPES: final('permission'),
    BANNED: final('permission'),
    INVALID_AUTHENTICATION: final('auth'),
    EXPIRED_AUTHENTICATION: final('auth'),
    RATE_LIMITS: later('rateLimit', 10_000),
    RATE_LIMIT: later('rateLimit', 10_000),
    INTERNAL_ERROR: later('providerDown'),
    // HubSpot documents the status 423 and no category; these two name what it is.
    LOCKED: lock,
    OBJECT_LOCKED: lock,
  }),
);

/** Judges an answer of HubSpot that is no success. */
export function failureOf(answer: HttpAnswer): Failure {
  if (isRedirect(answer)) return redirected('HubSpot', answer);
  const parsed = bodyOf(answer);
  const body = isObject(parsed) ? parsed : {};
  const judgement = judge(answer, body);
  return describe(withWish(judgement, answer), body, answer.status);
}

/** The failure of one entry under `errors` of a multi-status answer. */
export function failureOfEntry(entry: JsonObject, status: number): Failure {
  return describe(judgeCategory(entry) ?? final('validation'), entry, status);
}

/** HubSpot refuses a duplicate value as a validation error; only the details say that it is a conflict. */
function judgeCategory(body: JsonObject): Judgement | undefined {
  const details = detailsOf(body);
  const isClash = details.length > 0 && details.every((one) => codeOf(one) === 'CONFLICTING_UNIQUE_VALUE');
  if (isClash) return final('conflict');
  return byCategory.get(textOf(body['category']) ?? '');
}

function judge(answer: HttpAnswer, body: JsonObject): Judgement {
  const { status } = answer;
  if (isSuccess(answer)) return later('providerDown');
  if (status === 429) return judgeLimit(body);
  if (status >= 500) return later('providerDown');
  // An unknown object type answers 400 or 404, by endpoint.
  if (/unable to infer object type/i.test(textOf(body['message']) ?? '')) return final('notFound');
  const category = status === 400 ? judgeCategory(body) : undefined;
  return category ?? byStatus[status] ?? final('validation');
}

/** HubSpot sends no Retry-After with 429: the body names the window. */
function judgeLimit(body: JsonObject): Judgement {
  const policy = textOf(body['policyName']) ?? '';
  const message = textOf(body['message']) ?? '';
  // The day ends at midnight of the portal's time zone, which we do not know: look again every hour.
  if (policy === 'DAILY' || /daily limit/i.test(message)) return later('rateLimit', 3_600_000);
  if (policy.startsWith('SECONDLY') || /your secondly limit/i.test(message)) return later('rateLimit', 1_000);
  return later('rateLimit', 10_000);
}

function withWish(judgement: Judgement, answer: HttpAnswer): Judgement {
  if (!judgement.retryable) return judgement;
  const wish = retryAfterMs(headerOf(answer, 'retry-after'));
  return wish === undefined ? judgement : { ...judgement, retryAfterMs: wish };
}

function describe(judgement: Judgement, body: JsonObject, status: number): Failure {
  const provider = summarize(body, status);
  const said = provider.message === undefined ? '' : `: ${provider.message}`;
  const message =
    status >= 200 && status < 300 && provider.message === undefined
      ? 'HubSpot answered something that could not be understood'
      : `HubSpot answered ${status}${said}${scopesIn(body)}`;
  const existing = judgement.category === 'conflict' ? existingIdOf(body, provider.message) : undefined;
  return {
    ...judgement,
    message,
    provider,
    ...(existing === undefined ? {} : { existingRecordId: existing }),
  };
}

/** The message of a missing scope does not name the scope; its context does. */
function scopesIn(body: JsonObject): string {
  const contexts = [body, ...detailsOf(body)].map(({ context }) => (isObject(context) ? context : {}));
  const scopes = new Set(contexts.flatMap((context) => textsOf(context['requiredGranularScopes'])));
  return scopes.size > 0 ? ` Missing scopes: ${[...scopes].join(', ')}` : '';
}

/** A batch entry has the id in its context; a single answer has it in its message only. */
function existingIdOf(body: JsonObject, message = ''): string | undefined {
  const context = isObject(body['context']) ? body['context'] : {};
  const [named] = textsOf(context['existingId']);
  return (
    named ?? /Existing ID: (\d+)/.exec(message)?.[1] ?? /(\d+) already has that value/.exec(message)?.[1]
  );
}

function detailsOf(body: JsonObject): JsonObject[] {
  return [...objectsOf(body['errors']), ...objectsOf(body['validationResults'])];
}

function codeOf(detail: JsonObject): string | undefined {
  return textOf(detail['code']) ?? textOf(detail['error']);
}

function summarize(body: JsonObject, status: number): ProviderAnswerSummary {
  const details = detailsOf(body);
  const code =
    codeOf(details[0] ?? {}) ??
    textOf(body['policyName']) ??
    textOf(body['category']) ??
    textOf(body['errorType']);
  const message = readableMessage(body, details);
  return {
    status,
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message: withoutSecrets(message) }),
  };
}

/** The details hold readable messages; the top message may only wrap them as JSON. Every member may be absent. */
function readableMessage(body: JsonObject, details: readonly JsonObject[]): string | undefined {
  const top = textOf(body['message']);
  const messages = [
    ...new Set(details.map((one) => textOf(one['message'])).filter((one) => one !== undefined)),
  ];
  if (messages.length === 0) return top;
  const detailed = messages.slice(0, 5).join('; ');
  const isWrapper = top === undefined || top.includes('[{') || messages.includes(top);
  return isWrapper ? detailed : `${top} (${detailed})`;
}

import { headerOf, type HttpAnswer } from '../../kit/http/client.ts';
import { bodyOf, isObject, isSuccess, objectsOf, textOf, textsOf, type JsonObject } from '../answer.ts';
import type { WriteKind } from '../connector.ts';
import { canonicalId } from './ids.ts';
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

/** The code of a record that failed only because another one of its allOrNone call did. */
export const rolledBack = 'ALL_OR_NONE_OPERATION_ROLLED_BACK';

/** A trigger and a flow see all records, whatever sharing shows to their user. */
const byAccount: Judgement = { ...final('validation'), byAccount: true };

const byCode = new Map<string, Judgement>(
  Object.entries({
    INVALID_SESSION_ID: final('auth'),
    INVALID_AUTH_HEADER: final('auth'),
    API_DISABLED_FOR_ORG: final('permission'),
    API_CURRENTLY_DISABLED: final('permission'),
    FUNCTIONALITY_NOT_ENABLED: final('permission'),
    INSUFFICIENT_ACCESS: final('permission'),
    INSUFFICIENT_ACCESS_OR_READONLY: final('permission'),
    INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY: final('permission'),
    NOT_FOUND: final('notFound'),
    ENTITY_IS_DELETED: final('notFound'),
    INVALID_TYPE: final('notFound'),
    DUPLICATE_VALUE: final('conflict'),
    DUPLICATES_DETECTED: final('conflict'),
    DUPLICATE_EXTERNAL_ID: final('conflict'),
    FIELD_CUSTOM_VALIDATION_EXCEPTION: byAccount,
    CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY: byAccount,
    CANNOT_EXECUTE_FLOW_TRIGGER: byAccount,
    UNABLE_TO_LOCK_ROW: later('conflict', 1_000),
    QUERY_TIMEOUT: later('providerDown'),
    SERVER_UNAVAILABLE: later('providerDown'),
    UNKNOWN_EXCEPTION: later('providerDown'),
  }),
);

const byStatus: Record<number, Judgement> = {
  401: final('auth'),
  403: final('permission'),
  404: final('notFound'),
  408: later('providerDown'),
  409: final('conflict'),
  412: final('conflict'),
  429: later('rateLimit', 10_000),
};

/** Judges an answer of Salesforce that is no success. */
export function failureOf(answer: HttpAnswer): Failure {
  if (answer.status === 300) return severalFound;
  if (isRedirect(answer)) return redirected('Salesforce', answer);
  const parsed = bodyOf(answer);
  const [first = isObject(parsed) ? parsed : {}] = objectsOf(parsed);
  const judgement = judge(answer, first);
  const wish = judgement.retryable ? retryAfterMs(headerOf(answer, 'retry-after')) : undefined;
  return describe(
    wish === undefined ? judgement : { ...judgement, retryAfterMs: wish },
    first,
    answer.status,
  );
}

/** The answer lists them, and nothing was written. */
const severalFound: Failure = {
  ...final('conflict'),
  message:
    'Salesforce answered 300: several records have this value of the external id, and none was changed',
  provider: { status: 300 },
};

/**
 * Of a job that ended badly, by the code that its message begins with: what is wrong with the query itself is wrong each time. Undefined
 * for any other reason.
 */
export function judgeQuery(why: string): Judgement | undefined {
  const [code = ''] = /^[A-Z]+(?:_[A-Z]+)+/.exec(why) ?? [];
  const known = byCode.get(code) ?? (/^(?:INVALID|MALFORMED)_/.test(code) ? final('validation') : undefined);
  return known?.retryable ? undefined : known;
}

/** The failure of one item of a collection, by its first error: it was not written. */
export function failureOfItem(item: JsonObject, status: number, kind: WriteKind): Failure {
  const [first = {}] = objectsOf(item['errors']);
  return describe(judgeCode(first) ?? judgeReference(first, kind), first, status);
}

/** In a collection an id that never was is a bad reference, as is a field that names a missing record (it stands in `fields`). */
function judgeReference(error: JsonObject, kind: WriteKind): Judgement {
  const isOwnId =
    codeOf(error) === 'INVALID_CROSS_REFERENCE_KEY' &&
    kind === 'update' &&
    textsOf(error['fields']).length === 0;
  return final(isOwnId ? 'notFound' : 'validation');
}

function judge(answer: HttpAnswer, error: JsonObject): Judgement {
  const { status } = answer;
  if (isSuccess(answer)) return later('providerDown');
  const known = judgeCode(error);
  if (status >= 500) return known?.retryable ? known : later('providerDown');
  return known ?? byStatus[status] ?? final('validation');
}

function judgeCode(error: JsonObject): Judgement | undefined {
  const code = codeOf(error) ?? '';
  if (code === 'REQUEST_LIMIT_EXCEEDED' || code.startsWith('CONCURRENT_')) return judgeLimit(error);
  return byCode.get(code);
}

/** One code for two limits: calls at a time (over in seconds) and calls a day. The text tells them apart. */
function judgeLimit(error: JsonObject): Judgement {
  const isConcurrent = /concurrent/i.test(`${codeOf(error)} ${textOf(error['message']) ?? ''}`);
  return later('rateLimit', isConcurrent ? 5_000 : 15 * 60_000);
}

/** `errorCode` of a whole answer, `statusCode` inside a collection, `error` of an OAuth body. */
function codeOf(error: JsonObject): string | undefined {
  return textOf(error['errorCode']) ?? textOf(error['statusCode']) ?? textOf(error['error']);
}

function describe(judgement: Judgement, error: JsonObject, status: number): Failure {
  const code = codeOf(error);
  const text = textOf(error['message']) ?? textOf(error['error_description']);
  const message = text === undefined ? undefined : withoutSecrets(text + duplicatesOf(error));
  const existing = judgement.category === 'conflict' ? existingIdOf(error, text) : undefined;
  const said = [code, message].filter((one) => one !== undefined).join(': ');
  return {
    ...judgement,
    message: sentence(status, said),
    provider: {
      status,
      ...(code === undefined ? {} : { code }),
      ...(message === undefined ? {} : { message }),
    },
    ...(existing === undefined ? {} : { existingRecordId: existing }),
  };
}

function sentence(status: number, said: string): string {
  if (status >= 200 && status < 300) {
    return said === ''
      ? 'Salesforce answered something that could not be understood'
      : `Salesforce refused the record: ${said}`;
  }
  return said === '' ? `Salesforce answered ${status}` : `Salesforce answered ${status}: ${said}`;
}

/** The record that has the value, in the words of `DUPLICATE_VALUE`, or the first that a duplicate rule found. */
function existingIdOf(error: JsonObject, text = ''): string | undefined {
  const id = /record with id: ([a-z0-9]{15,18})\b/i.exec(text)?.[1] ?? matchedIds(error)[0];
  return id === undefined ? undefined : canonicalId(id);
}

function duplicatesOf(error: JsonObject): string {
  const ids = matchedIds(error);
  return ids.length === 0 ? '' : ` (existing: ${ids.slice(0, 5).join(', ')})`;
}

/** The ids that a duplicate rule found. The vendor's own spelling of the member is `duplicateResut`. */
function matchedIds(error: JsonObject): string[] {
  const result = error['duplicateResut'] ?? error['duplicateResult'];
  const matches = isObject(result) ? objectsOf(result['matchResults']) : [];
  const records = matches.flatMap((match) => objectsOf(match['matchRecords'])).map((one) => one['record']);
  return records
    .map((record) => (isObject(record) ? textOf(record['Id']) : undefined))
    .filter((id) => id !== undefined);
}

import { isKept } from '../kit/db/unkept.ts';
import type { HttpAnswer } from '../kit/http/client.ts';
import { isExactNumber, parseJson } from '../kit/json.ts';
import type { RecordOutcome, WriteCall } from './connector.ts';
import { isRedirect, unknownOutcome, type Failure } from './failure.ts';

export type JsonObject = Record<string, unknown>;

/** The body as JSON, or undefined for anything else: empty, cut off, a page of HTML. */
export function bodyOf(answer: HttpAnswer): unknown {
  try {
    return answer.mayLoseDigits === false ? (JSON.parse(answer.body) as unknown) : parseJson(answer.body);
  } catch {
    return undefined;
  }
}

/** A text as a JSON object, or undefined. */
export function objectFrom(text: string): JsonObject | undefined {
  const value = bodyOf({ status: 0, headers: {}, body: text });
  return isObject(value) ? value : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of an array; nothing for what is no array. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The same where nothing else may stand in it: undefined for what is no array, or holds something else. */
export function objectsIn(value: unknown): JsonObject[] | undefined {
  const list: unknown[] | undefined = Array.isArray(value) ? value : undefined;
  return list?.every(isObject) ? list : undefined;
}

/** The texts of an array, or one text alone; nothing otherwise. */
export function textsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string');
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An id as text; some endpoints send numbers. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/** The id of a record that was written; one that cannot be kept as it is tells nobody which record it is. */
export function keptIdOf(value: unknown): string | undefined {
  const id = idOf(value);
  return id !== undefined && isKept(id) ? id : undefined;
}

/**
 * A value as providers compare it: text without case (emails are stored in lower case; numbers
 * and booleans come back as text). Undefined for what is empty or no scalar.
 */
export function comparable(value: unknown): string | undefined {
  if (isExactNumber(value)) return value.rawJSON;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  return String(value).trim().toLowerCase() || undefined;
}

/** The value at a dotted path of own members. */
export function valueAt(body: JsonObject, path: string): unknown {
  let value: unknown = body;
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

export function isSuccess(answer: HttpAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/**
 * The outcome of a call whose success has an empty body. A page with status 200 comes from a log-in or maintenance page
 * in between and says nothing about the records.
 */
export function judgeEmpty(call: WriteCall, { status, body }: HttpAnswer): RecordOutcome[] {
  if (status !== 204 && status !== 200) return unknownForAll(call, `the provider answered ${status}`);
  if (body.trim() !== '')
    return unknownForAll(call, `the provider answered ${status} with a body, where it answers with nothing`);
  return call.records.map(({ id }) => ({ kind: 'applied', ...(id === undefined ? {} : { recordId: id }) }));
}

/**
 * Whether an answer that is no success leaves open that the write was done all the same. A 5xx does, unless the provider documents
 * that nothing was done by a call so answered. So does a redirect: 303 leads to the result of what was done, and servers use 301 and
 * 302 for that, too. Only 307 and 308 ask for the same request elsewhere (RFC 9110, 15.4).
 */
function leavesOpen(answer: HttpAnswer, notDone: ReadonlySet<number>): boolean {
  const { status } = answer;
  if (notDone.has(status)) return false;
  return status === 408 || status >= 500 || (isRedirect(answer) && status !== 307 && status !== 308);
}

/** The same outcome for every record of a call whose answer is about the call as a whole. */
export function wholeCall(
  call: WriteCall,
  answer: HttpAnswer,
  failure: Failure,
  notDone: ReadonlySet<number>,
): RecordOutcome[] {
  if (!leavesOpen(answer, notDone)) {
    // For several records the provider does not say which one clashes.
    const { existingRecordId: _existing, ...common } = failure;
    const own = call.records.length > 1 ? common : failure;
    return call.records.map(() => ({ kind: 'notApplied', failure: own }));
  }
  const why = isRedirect(answer) ? failure.message : `the provider answered ${answer.status}`;
  return unknownForAll(call, why, failure);
}

/** Unknown outcomes for every record: the answer says success, but nothing about the records. */
export function unknownForAll(call: WriteCall, why: string, failure?: Failure): RecordOutcome[] {
  return call.records.map(() => unknownRecord(call, why, failure));
}

/** An unknown outcome for one record. An update or a delete by id may be repeated. */
export function unknownRecord(call: WriteCall, why: string, failure?: Failure): RecordOutcome {
  const unknown = unknownOutcome(why, call.kind !== 'create', failure?.provider);
  const wish = failure?.retryAfterMs;
  return { kind: 'unknown', failure: wish === undefined ? unknown : { ...unknown, retryAfterMs: wish } };
}

/** Values by the names that were asked for; providers answer in their own case. */
export function pickFields(record: JsonObject, fields: readonly string[]): JsonObject {
  const byLower = new Map(Object.entries(record).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    fields
      .filter((name) => byLower.has(name.toLowerCase()))
      .map((name) => [name, byLower.get(name.toLowerCase())]),
  );
}

/** The levels of a field's name: `$['address']['city']` has two, a plain name is one. */
export function fieldLevels(name: string): string[] {
  if (!name.startsWith('$[')) return [name];
  return [...name.matchAll(/\['((?:[^'\\]|\\.)+)'\]/g)].map(([, level = '']) =>
    level.replaceAll(/\\(.)/g, '$1'),
  );
}

/** The provider's field of a selected one: `$['address']['city']` is read as `address`. */
export function rootField(name: string): string {
  return fieldLevels(name)[0] ?? name;
}

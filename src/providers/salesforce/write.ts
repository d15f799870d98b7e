import type { HttpAnswer } from '../../kit/http/client.ts';
import {
  bodyOf,
  keptIdOf,
  isObject,
  isSuccess,
  judgeEmpty,
  unknownForAll,
  unknownRecord,
  wholeCall,
  type JsonObject,
} from '../answer.ts';
import type { ProviderRequest, RecordOutcome, WriteAbility, WriteCall, WriteRecord } from '../connector.ts';
import { invalidCall, type Failure } from '../failure.ts';
import { isForwardable } from '../headers.ts';
import { failureOf, failureOfItem, rolledBack } from './failure.ts';
import {
  collectionPath,
  faultOfId,
  faultOfObjectName,
  isApiName,
  isPathValue,
  keyPath,
  objectPath,
  recordPath,
  upsertPath,
} from './paths.ts';

/** Ours; a collection call of Salesforce takes 200. */
export const batchLimit = 100;

/**
 * Several records have the value of the external id (300), and none was changed. Salesforce's page on status codes does not say of 500,
 * 502, 503 or `SERVER_UNAVAILABLE` that nothing was done (facts.md).
 */
const notDone = new Set([300]);

export const write: WriteAbility = { kinds: ['create', 'update', 'delete', 'upsert'], refusal, build, judge };

function refusal(call: WriteCall): Failure | undefined {
  const fault = faultOfObjectName(call.objectName);
  if (fault || call.kind === 'create') return fault;
  if (call.kind === 'upsert') return faultOfKeys(call);
  return call.records.map((record) => faultOfId(record.id)).find((one) => one !== undefined);
}

function faultOfKeys({ records, upsertBy }: WriteCall): Failure | undefined {
  if (upsertBy === undefined || !isApiName(upsertBy))
    return invalidCall(`${JSON.stringify(upsertBy)} is not the API name of a Salesforce field`);
  const isComplete = records.every(({ key }) => key !== undefined && key !== '');
  return isComplete ? undefined : invalidCall('the field that the record is written by has no value');
}

function build(call: WriteCall): ProviderRequest {
  const request = isCollection(call) ? buildCollection(call) : buildSingle(call);
  const headers = forwarded(call);
  return Object.keys(headers).length > 0 ? { ...request, headers } : request;
}

/** A single upsert, too, whose value would not stand in a path as it is. */
function isCollection({ kind, records }: WriteCall): boolean {
  return records.length > 1 || (kind === 'upsert' && !isPathValue(records[0]?.key));
}

function buildSingle(call: WriteCall): ProviderRequest {
  const [record] = call.records;
  if (!record) throw new Error('a write call without records');
  if (call.kind === 'create')
    return { method: 'POST', path: objectPath(call.objectName), body: fieldsOf(record) };
  // The field of the path is refused in the body.
  if (call.kind === 'upsert')
    return {
      method: 'PATCH',
      path: keyPath(call.objectName, call.upsertBy ?? '', record.key ?? ''),
      body: fieldsOf(record, call.upsertBy),
    };
  const path = recordPath(call.objectName, record.id ?? '');
  return call.kind === 'update'
    ? { method: 'PATCH', path, body: fieldsOf(record) }
    : { method: 'DELETE', path };
}

function buildCollection(call: WriteCall): ProviderRequest {
  if (call.kind === 'delete') throw new Error('a batch of deletes is not written');
  const records = call.records.map((record) => ({
    attributes: { type: call.objectName },
    ...(call.kind === 'update' ? { id: record.id } : {}),
    ...(call.kind === 'upsert' ? withKey(record, call.upsertBy) : fieldsOf(record)),
  }));
  return {
    method: call.kind === 'create' ? 'POST' : 'PATCH',
    path: call.kind === 'upsert' ? upsertPath(call.objectName, call.upsertBy ?? '') : collectionPath,
    body: { allOrNone: call.allOrNone, records },
  };
}

/** A text that the record goes by stands there as it does in a path and in a look: without outer space. */
function withKey(record: WriteRecord, upsertBy = ''): JsonObject {
  const isText = ([name, value]: [string, unknown]): boolean =>
    name.toLowerCase() === upsertBy.toLowerCase() && typeof value === 'string';
  return Object.fromEntries(
    Object.entries(fieldsOf(record)).map(([name, value]) => [
      name,
      isText([name, value]) ? record.key : value,
    ]),
  );
}

/** `attributes` says of which object a record is: as a field it could name another one than the allowed one. */
export const otherMembers = ['attributes'];

/** The id is in the path or beside the fields. */
function fieldsOf(record: WriteRecord, without = 'id'): JsonObject {
  const left = new Set(['id', ...otherMembers, without.toLowerCase()]);
  return Object.fromEntries(Object.entries(record.fields).filter(([name]) => !left.has(name.toLowerCase())));
}

/** The caller's headers, in lower case; of two with one name the last. Names that may not be forwarded were refused before. */
function forwarded(call: WriteCall): Record<string, string> {
  return Object.fromEntries(
    call.headers.filter(({ key }) => isForwardable(key)).map(({ key, value }) => [key.toLowerCase(), value]),
  );
}

function judge(call: WriteCall, answer: HttpAnswer): RecordOutcome[] {
  if (!isSuccess(answer)) return wholeCall(call, answer, failureOf(answer), notDone);
  if (isCollection(call)) return judgeCollection(call, answer);
  if (call.kind === 'create' || call.kind === 'upsert') return judgeOne(call, answer);
  // An update and a delete answer 204 without a body, so nothing can be cut off.
  return judgeEmpty(call, answer);
}

function judgeOne(call: WriteCall, answer: HttpAnswer): RecordOutcome[] {
  const body = bodyOf(answer);
  if (!isObject(body))
    return unknownForAll(call, `the provider answered ${answer.status} without a readable body`);
  return call.records.map((record) => outcomeOf(call, record, body, answer.status));
}

/** The items of a collection stand in the order of its records, which Salesforce guarantees. */
function judgeCollection(call: WriteCall, answer: HttpAnswer): RecordOutcome[] {
  const items = bodyOf(answer);
  if (!Array.isArray(items) || items.length !== call.records.length) {
    return unknownForAll(call, `the provider answered ${answer.status} without one item for each record`);
  }
  const outcomes = call.records.map((record, index) =>
    outcomeOf(call, record, items[index] as unknown, answer.status),
  );
  const guilty = outcomes.find(
    (outcome) => outcome.kind === 'notApplied' && outcome.failure.provider?.code !== rolledBack,
  );
  return guilty?.kind === 'notApplied' ? outcomes.map((outcome) => blame(outcome, guilty.failure)) : outcomes;
}

function outcomeOf(call: WriteCall, record: WriteRecord, item: unknown, status: number): RecordOutcome {
  if (!isObject(item) || typeof item['success'] !== 'boolean')
    return unknownRecord(call, 'its item cannot be read');
  if (!item['success']) return { kind: 'notApplied', failure: failureOfItem(item, status, call.kind) };
  const recordId = keptIdOf(item['id']) ?? record.id;
  if (recordId === undefined) return unknownRecord(call, 'the provider answered without its id');
  const created = item['created'];
  const isTold = call.kind === 'upsert' && typeof created === 'boolean';
  return { kind: 'applied', recordId, ...(isTold ? { created } : {}) };
}

/** A rolled-back record failed for the reason of the record that caused it. */
function blame(outcome: RecordOutcome, cause: Failure): RecordOutcome {
  if (outcome.kind !== 'notApplied' || outcome.failure.provider?.code !== rolledBack) return outcome;
  const { category, retryable, retryAfterMs, byAccount } = cause;
  const wish = retryAfterMs === undefined ? {} : { retryAfterMs };
  const more = byAccount ? { byAccount } : {};
  return { kind: 'notApplied', failure: { ...outcome.failure, category, retryable, ...wish, ...more } };
}

import type { HttpAnswer } from '../../kit/http/client.ts';
import {
  bodyOf,
  isObject,
  isSuccess,
  judgeEmpty,
  unknownForAll,
  wholeCall,
  type JsonObject,
} from '../answer.ts';
import type { ProviderRequest, RecordOutcome, WriteAbility, WriteCall, WriteRecord } from '../connector.ts';
import { invalidCall, type Failure } from '../failure.ts';
import { failureOf } from './failure.ts';
import { appliedFrom, judgeBatch, traceIdOf } from './match.ts';
import { isOwners } from './owners.ts';
import { faultOfId, faultOfObjectName, objectPath, recordPath } from './paths.ts';

/** The most inputs of one batch call. */
export const batchLimit = 100;

/**
 * Statuses with which HubSpot's network says that HubSpot was not reached: refused (521), no route (523), no TLS (525, 526).
 * HubSpot's page on error handling does not say that of 500, 502, 503, 504, 522 and 524 (facts.md).
 */
const notDone = new Set([521, 523, 525, 526]);

export const write: WriteAbility = { kinds: ['create', 'update', 'delete', 'upsert'], refusal, build, judge };

function refusal(call: WriteCall): Failure | undefined {
  if (isOwners(call.objectName)) return invalidCall('HubSpot takes no writes of owners');
  const fault = faultOfObjectName(call.objectName);
  if (fault || call.kind === 'create') return fault;
  if (call.kind === 'upsert') return faultOfKeys(call);
  return call.records.map((record) => faultOfId(record.id)).find((one) => one !== undefined);
}

function faultOfKeys({ records, upsertBy }: WriteCall): Failure | undefined {
  const isComplete = upsertBy !== undefined && records.every(({ key }) => key !== undefined && key !== '');
  return isComplete ? undefined : invalidCall('the property that the record is written by has no value');
}

function build(call: WriteCall): ProviderRequest {
  const [record] = call.records;
  if (!record) throw new Error('a write call without records');
  // An upsert has no form for one record.
  if (call.records.length > 1 || call.kind === 'upsert') return buildBatch(call);
  if (call.kind === 'create')
    return { method: 'POST', path: objectPath(call.objectName), body: inputOf(record, 'create') };
  const path = recordPath(call.objectName, record.id ?? '');
  return call.kind === 'update'
    ? { method: 'PATCH', path, body: inputOf(record, 'update') }
    : { method: 'DELETE', path };
}

function buildBatch(call: WriteCall): ProviderRequest {
  if (call.kind === 'delete') throw new Error('a batch of deletes is not written');
  const path = objectPath(call.objectName, `/batch/${call.kind}`);
  return { method: 'POST', path, body: { inputs: inputsOf(call) } };
}

/**
 * A create and an upsert are partial only if every input carries a trace id of its own; else one bad record fails all, as allOrNone
 * asks, and the answer says why for a record that is alone. An update is always partial; there the trace id only helps to match.
 */
function inputsOf(call: WriteCall): JsonObject[] {
  const traced = call.kind === 'update' || (!call.allOrNone && call.records.length > 1);
  return call.records.map((record, index) => ({
    ...(call.kind === 'update' ? { id: record.id } : {}),
    ...(call.kind === 'upsert' ? { id: record.key, idProperty: call.upsertBy } : {}),
    ...(traced ? { objectWriteTraceId: traceIdOf(index) } : {}),
    ...(call.kind === 'upsert'
      ? { properties: withoutKey(record, call.upsertBy) }
      : inputOf(record, call.kind)),
  }));
}

/** HubSpot sets it of a record that it creates; one that was found by another of its addresses keeps its own. */
function withoutKey({ fields }: WriteRecord, upsertBy = ''): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => name.toLowerCase() !== upsertBy.toLowerCase()),
  );
}

/** HubSpot refuses `id` among the properties; associations are for creates only. */
function inputOf(record: WriteRecord, kind: WriteCall['kind']): JsonObject {
  const { id: _id, ...properties } = record.fields;
  const associations = kind === 'create' ? record.associations : undefined;
  return { properties, ...(associations ? { associations } : {}) };
}

function judge(call: WriteCall, answer: HttpAnswer): RecordOutcome[] {
  if (!isSuccess(answer)) return wholeCall(call, answer, failureOf(answer), notDone);
  if (call.kind === 'delete') return judgeEmpty(call, answer);
  const body = bodyOf(answer);
  if (!isObject(body))
    return unknownForAll(call, `the provider answered ${answer.status} without a readable body`);
  if (call.records.length > 1 || call.kind === 'upsert') return judgeBatch(call, body, answer.status);
  const done = appliedFrom(body);
  return done ? [done] : unknownForAll(call, `the provider answered ${answer.status} without a record`);
}

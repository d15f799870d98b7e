import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { problem, type Problem } from '../../../kit/problem.ts';
import { AssociationInput } from '../schema.ts';

/** One record as it will be sent; kept with the operation, so that every attempt sends the same. */
const PlannedRecord = Type.Object({
  id: Type.Optional(Type.String()),
  /** Of an upsert: its value of the field that it goes by. */
  key: Type.Optional(Type.String()),
  fields: Type.Record(Type.String(), Type.Unknown()),
  /** Fields that are sent only where the record has no value yet. */
  ifEmpty: Type.Optional(Type.Array(Type.String())),
  /** Of an upsert: what is sent instead where the record stands there already. */
  onUpdate: Type.Optional(
    Type.Object({
      fields: Type.Record(Type.String(), Type.Unknown()),
      ifEmpty: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  associations: Type.Optional(Type.Array(AssociationInput)),
  reference: Type.Optional(Type.String()),
  /** Of a record that was gathered with those of other requests: its own request. */
  requestId: Type.Optional(Type.String()),
});
export type PlannedRecord = Static<typeof PlannedRecord>;

/** What of a plan is kept with the operation: with the records enough to send it from any node. */
const StoredWrite = Type.Object({
  kind: Type.Enum(['create', 'update', 'delete', 'upsert']),
  upsertBy: Type.Optional(Type.String()),
  mode: Type.Enum(['synchronous', 'asynchronous']),
  form: Type.Enum(['single', 'batch']),
  objectName: Type.String(),
  allOrNone: Type.Boolean(),
  headers: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  /** Of a create whose answer is lost and that no unique field can find: whether it is sent again; by default not. */
  onUnknown: Type.Optional(Type.Enum(['fail', 'retry'])),
  provider: Type.String(),
  /** The lane of a synchronous write is its node's, and does not tell. */
  connectionId: Type.String(),
});
export type StoredWrite = Static<typeof StoredWrite>;

/** What a write keeps: the ledger takes `type` for its sentences, the group and the request for figures and the log. */
export type KeptWrite = StoredWrite & {
  type: StoredWrite['kind'];
  groupRef: string;
  requestId?: string;
  retryOf?: string;
};

/** Whether a worker sends it again where nobody saw how it ended, whatever its mode (docs/invariants.md, 15). */
export function isRepeatedUnseen(kind: StoredWrite['kind']): boolean {
  return kind === 'upsert';
}

/** Whether it leaves the same state when whoever knows its key sends it again (docs/invariants.md, 15). Pure. */
export function leavesTheSame(kind: StoredWrite['kind']): boolean {
  return kind === 'update' || kind === 'delete';
}

/** Reads what an operation keeps of its write. Throws internal when it is none. */
export function storedWriteOf(request: unknown): StoredWrite {
  if (isStoredWrite.Check(request)) return request;
  throw unreadable('the write', isStoredWrite.Errors(request));
}

/** Reads what a record of an operation keeps. Throws internal when it is none. */
export function plannedRecordOf(payload: unknown): PlannedRecord {
  if (isPlannedRecord.Check(payload)) return payload;
  throw unreadable('a record', isPlannedRecord.Errors(payload));
}

const isStoredWrite = Compile(StoredWrite);
const isPlannedRecord = Compile(PlannedRecord);

function unreadable(what: string, [first]: readonly { instancePath: string; message: string }[]): Problem {
  const where = first ? `: ${first.instancePath} ${first.message}` : '';
  return problem('internal', { retryable: false, detail: `What is kept of ${what} cannot be read${where}.` });
}

import type { HttpAnswer, HttpResult } from '../kit/http/client.ts';
import type { Failure } from './failure.ts';
import type { FieldMetadata } from './schema.ts';

/** A request to a provider: `path` starts with `/` and is appended to the connection's base URL; the body is sent as JSON. */
export interface ProviderRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/**
 * Sends with the connection's credential. A 401 was already answered by one refresh and one repetition. `maySend` is asked
 * right before the first byte of each; false withholds it. `told` hears each with its answer, the repeated one, too.
 */
export interface ProviderClient {
  send(
    request: ProviderRequest,
    maySend?: () => boolean,
    told?: (exchange: ProviderExchange) => void,
  ): Promise<HttpResult>;
}

/** One request, without the credential, and its answer, or why there is none. */
export interface ProviderExchange {
  request: ProviderRequest;
  result: HttpResult;
  /** A UUIDv7 of the moment at which it began. */
  id: string;
  totalMs: number;
}

export type WriteKind = 'create' | 'update' | 'delete' | 'upsert';

export interface Association {
  to: { id: string };
  types: { associationCategory: string; associationTypeId: number }[];
}

/** One record of a write, in provider field names; `id` for update and delete, `key` for upsert: its value of `upsertBy` as text. */
export interface WriteRecord {
  id?: string;
  key?: string;
  fields: Record<string, unknown>;
  associations?: Association[];
}

/** One provider call: records of one object and kind. More than one record asks for the provider's batch endpoint. */
export interface WriteCall {
  kind: WriteKind;
  objectName: string;
  records: readonly WriteRecord[];
  /** Of an upsert: the field that says which record it is. */
  upsertBy?: string;
  allOrNone: boolean;
  /** Headers the caller forwards to the provider. */
  headers: readonly { key: string; value: string }[];
}

/**
 * What became of one record. `unknown`: it may or may not have been written.
 * `data` is the provider's echo of the record with its `id`; absent where the provider echoes nothing.
 * An applied record without `recordId` was written, but the answer does not tell which of the batch's ids is its own.
 * `lookedUpBy`: the answer was lost, and the record was found by this unique field. `created`: of an upsert, whether there was none.
 */
export type RecordOutcome =
  | {
      kind: 'applied';
      recordId?: string;
      data?: Record<string, unknown>;
      lookedUpBy?: string;
      created?: boolean;
    }
  | { kind: 'notApplied'; failure: Failure }
  | { kind: 'unknown'; failure: Failure };

/** Builds the request of a call and judges its answer; both pure, so that every quirk is a table test. */
export interface WriteAbility {
  kinds: readonly WriteKind[];
  /** Why the call cannot be made at all (an object name or id that fits no path, a missing id); asked before `build`. */
  refusal(call: WriteCall): Failure | undefined;
  build(call: WriteCall): ProviderRequest;
  /** One outcome for each record of the call, in the call's order. */
  judge(call: WriteCall, answer: HttpAnswer): RecordOutcome[];
}

export interface CurrentFields {
  found: Map<string, Record<string, unknown>>;
  /** By the ids of records that were merged into one: the id of that one. Not only of ids that were asked for. */
  merged?: Map<string, string>;
}

/** Reads the present values of fields by record id, for `writeOnUpdate: ifEmpty`. */
export interface CurrentFieldsAbility {
  build(objectName: string, ids: readonly string[], fields: readonly string[]): ProviderRequest;
  /** Values by record id and field, both spelt as asked; an id that the provider does not have is missing. A failure of the whole read otherwise. */
  judge(
    ids: readonly string[],
    fields: readonly string[],
    answer: HttpAnswer,
  ): CurrentFields | { failure: Failure };
  isEmpty(value: unknown): boolean;
}

/** A field whose value tells a record from all others. */
export interface UniqueField {
  name: string;
  /** True when the provider refuses a second record with the value; false when the value is unique by convention only. */
  enforced: boolean;
  /** Values that differ in their case alone are different ones. */
  caseSensitive?: true;
}

/** The fields of one object at the provider, for one connection. */
export interface ObjectDescription {
  name: string;
  displayName: string;
  fields: Record<string, FieldMetadata>;
  /** Not shown to callers. */
  uniqueFields?: readonly UniqueField[];
  /** Those that the provider takes an upsert by, where they are not the unique ones. Not shown to callers. */
  upsertFields?: readonly UniqueField[];
}

/** A record as a read-back found it. `createdAt`: milliseconds since the epoch, by the provider's clock. */
export interface StandingRecord {
  recordId: string;
  createdAt: number;
  /** All values that it is found by, where it has several. */
  keys?: readonly string[];
  /** Its values, by the names that were asked for. */
  fields: Record<string, unknown>;
}

/**
 * Finds records by a unique field, to learn what became of a create whose answer was lost. The read sees
 * every write that is finished: no search index.
 */
export interface ResolveAbility {
  /** After this many milliseconds a read sees what the provider has finished. */
  settleMs: number;
  /** The provider works on one request for this many milliseconds at most: until then a create whose answer was lost may still take effect. */
  longestRequestMs: number;
  /** A read shows every record of the account, so that one which it does not find is not there. */
  seesAll: boolean;
  /** Times of creation are rounded down to this many milliseconds. */
  createdPrecisionMs: number;
  /** The most values of one read. */
  valuesPerRead: number;
  /** The most characters of the path of one read, where it holds the values: fewer are asked for at once where it would be longer. */
  longestPath?: number;
  /** The best one first. `description` is missing where the provider does not describe the object. */
  uniqueFields(objectName: string, description: ObjectDescription | undefined): readonly UniqueField[];
  /** Why no record can be looked for by the value; where it is missing, any value will do. */
  faultOfValue?(by: string, value: string, description: ObjectDescription | undefined): Failure | undefined;
  /** One read of the records that have one of the values in the field, with the fields named. Without `description` the field is a text. */
  build(
    objectName: string,
    by: string,
    values: readonly string[],
    fields: readonly string[],
    description?: ObjectDescription,
  ): ProviderRequest;
  /**
   * The records by the value asked for; a value that no record has is missing. `untold`: the answer does not tell of all values, so that
   * fewer are asked for at once; of one value alone it is why that cannot be told. A failure of the whole read otherwise.
   */
  judge(
    by: string,
    values: readonly string[],
    fields: readonly string[],
    answer: HttpAnswer,
    description?: ObjectDescription,
  ): { found: Map<string, StandingRecord[]> } | { untold: Failure } | { failure: Failure };
}

/** Writes records by a field that tells them apart: one that is not there is created. */
export interface UpsertAbility {
  /** The field by its own name, or why records are not written by it. `description` is missing where the connection may not see one. */
  identity(
    objectName: string,
    field: string,
    description: ObjectDescription | undefined,
  ): { field: UniqueField } | { failure: Failure };
}

export interface DescribeAbility {
  /** Objects that every account has; the provider is not asked for them. */
  standard: readonly string[];
  /** Names of objects that the connection has, as far as the provider lists them. Never fails: what cannot be read is left out. */
  names(client: ProviderClient): Promise<string[]>;
  describe(
    client: ProviderClient,
    objectName: string,
  ): Promise<{ object: ObjectDescription } | { failure: Failure }>;
}

/** A condition on a field: the provider's name, an operator of the config, a text, a number or a boolean. */
export interface ReadFilter {
  fieldName: string;
  operator: string;
  value: unknown;
}

/** The records of one object that a read asks for. Times are milliseconds since the epoch, by the provider's clock. */
export interface ReadQuery {
  object: ObjectDescription;
  /** The provider's names in any case; those that the object does not have are left out. */
  fields: readonly string[];
  /** Changed after this time; since ever without it. */
  since?: number;
  /** Changed at this time or before. */
  until: number;
  /** All of them hold. */
  filters: readonly ReadFilter[];
  /** The records that were deleted in this time, instead of those that stand. */
  deleted: boolean;
  /** At most so many records a page; less than {@link ReadAbility.largestPage} where an answer became too large to be read. */
  limit?: number;
}

export interface ReadRecord {
  id: string;
  /** Another one for each change. It is the time of the change in ISO 8601, so that a later one sorts after it, where the provider tells it. */
  version: string;
  /** The values by the provider's names. */
  fields: Record<string, unknown>;
  /** The record as the provider sent it; numbers keep their digits. */
  raw: Record<string, unknown>;
}

/** `next` is missing on the last page. A page may be empty and yet have a next one, to be asked for after `waitMs`. */
export interface ReadPage {
  records: ReadRecord[];
  next?: string;
  waitMs?: number;
}

/**
 * `ask`: the page needs these answers, too. `begin`: the provider does not know the cursor any more, and the read begins
 * again from {@link ReadAbility.begin}.
 */
export type ReadJudgement =
  | { page: ReadPage }
  | { ask: readonly ProviderRequest[] }
  | { failure: Failure; begin?: true };

/**
 * Reads an object page by page. All of it is pure: a cursor holds everything that the next request needs, so that a read
 * goes on at its page wherever it was stopped. No cursor is a time, for thousands of records may share one.
 */
export interface ReadAbility {
  /** The most records of a page. */
  largestPage: number;
  /** A change may show so many milliseconds after the time that it carries: a read that goes on from `until` looks back so far. */
  lagMs: number;
  /** Why the object cannot be read so; asked before anything else. */
  refusal(query: ReadQuery): Failure | undefined;
  /** The first cursor. `large`: there are many records, and the provider may have a way of its own for them. */
  begin(query: ReadQuery, large: boolean): string;
  build(query: ReadQuery, cursor: string): ProviderRequest;
  /** `answers`: that of `build`, then those of `ask` in its order. */
  judge(query: ReadQuery, cursor: string, answers: readonly HttpAnswer[]): ReadJudgement;
  /** Asks how many records there are, as a help to plan; undefined where the provider does not count them. */
  buildCount(query: ReadQuery): ProviderRequest | undefined;
  judgeCount(answer: HttpAnswer): { count: number } | { failure: Failure };
}

/** A record that another one is associated with. `types`: how, as the provider tells it. */
export interface AssociatedRecord {
  id: string;
  types: readonly Record<string, unknown>[];
}

/** A record whose associations are asked for, from a place on where one answer does not hold all of them. */
export interface AssociationsOf {
  id: string;
  after?: string;
}

/**
 * Reads what records are associated with. The provider may change that and move no time of change: then it is found by
 * comparing. All of it is pure.
 */
export interface ReadAssociationsAbility {
  /** The most records of one request. */
  recordsPerRead: number;
  /** Why the records of the object have no associations with those of the other. */
  refusal(objectName: string, to: string): Failure | undefined;
  build(objectName: string, to: string, of: readonly AssociationsOf[]): ProviderRequest;
  /** Those of each record that was asked for; `more`: where the rest is to be asked for. */
  judge(
    of: readonly AssociationsOf[],
    answer: HttpAnswer,
  ): { found: Map<string, AssociatedRecord[]>; more: AssociationsOf[] } | { failure: Failure };
  /** The records of one page by their ids, as they are now. */
  buildRecords(query: ReadQuery, ids: readonly string[]): ProviderRequest[];
  /** A record that is not there any more is left out. */
  judgeRecords(
    query: ReadQuery,
    ids: readonly string[],
    answers: readonly HttpAnswer[],
  ): { records: ReadRecord[] } | { failure: Failure };
}

/** The code for one provider. It has an ability exactly when the member is present. */
export interface Connector {
  /** Judges any answer that is not a success, by the provider's own bodies and codes. */
  failureOf(answer: HttpAnswer): Failure;
  write?: WriteAbility;
  /** The one form of a record's id where the provider takes several; missing where it takes one only. Pure. */
  canonicalId?(id: string): string;
  /** All forms in which such an id may have been given; none of what is no id. Pure. */
  idForms?(id: string): readonly string[];
  /** The most records of one batch call; absent means no batch. */
  batchLimit?: number;
  /** Kinds of batch that the provider commits in part even when all or none was asked (§4.2.2). */
  partialOnly?: readonly WriteKind[];
  associations?: true;
  forwardHeaders?: true;
  /** Names, in lower case, that stand in a record for something else than a field, so that no field of the name can be written. */
  otherMembers?: readonly string[];
  /** Why no field of this name can be read; missing where any name may be asked for. Pure. */
  faultOfField?(name: string): Failure | undefined;
  currentFields?: CurrentFieldsAbility;
  resolve?: ResolveAbility;
  /** Together with the kind `upsert` of its writes. */
  upsert?: UpsertAbility;
  describe?: DescribeAbility;
  read?: ReadAbility;
  readAssociations?: ReadAssociationsAbility;
}

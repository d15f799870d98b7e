import { makeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import type { Schema, SObject } from '../schema/object-types.ts';

/** A stored value. Datetimes are text in Salesforce's own output form, so they sort as text. */
export type Value = string | number | boolean | null;

/** One record; a change makes a new row, so results already handed out stay as they were. */
export type Row = Readonly<Record<string, Value>>;

type Index = Map<string, Set<string>>;

type Table = {
  object: SObject;
  rows: Map<string, Row>;
  /** Live rows by the lower-case value of each external id, unique or lookup field. */
  indexes: Map<string, Index>;
  /** Ids in the recycle bin with the time (ms) they got there. */
  deletedAt: Map<string, number>;
  next: number;
};

/** What happened to one record, for the ledger. */
type Change = {
  kind: 'create' | 'update' | 'delete';
  object: string;
  id: string;
  fields: Record<string, Value>;
};

/** Steps and changes of one request; nothing is reported until it is committed. */
export type Transaction = { undo: (() => void)[]; redo: (() => void)[]; changes: Change[] };

/** All records of the org. */
export type Store = {
  schema: Schema;
  pod: string;
  /** Added to the numbers in ids of records; 0 until the org is seeded. */
  madeFrom: number;
  tables: Map<string, Table>;
  /** Ids written by transactions that are not committed yet: other writes of them meet a lock. */
  held: Set<string>;
};

/** Days a deleted record stays readable by queryAll. */
export const recycleBinMs = 15 * 86_400_000;

export function createStore(schema: Schema, pod: string): Store {
  return { schema, pod, madeFrom: 0, tables: new Map(), held: new Set() };
}

export function transaction(): Transaction {
  return { undo: [], redo: [], changes: [] };
}

/** Takes back what was done after a mark, leaving the earlier part alone. */
export function rollbackTo(tx: Transaction, mark: { undo: number; changes: number }): void {
  for (const step of tx.undo.splice(mark.undo).toReversed()) step();
  tx.redo.splice(mark.undo);
  tx.changes.splice(mark.changes);
}

function tableOf(store: Store, object: SObject): Table {
  const known = store.tables.get(object.name);
  if (known) return known;
  const table: Table = { object, rows: new Map(), indexes: new Map(), deletedAt: new Map(), next: 1 };
  store.tables.set(object.name, table);
  return table;
}

/** Gives the next id of an object; ids given out are never given again. Users keep theirs over a restart, as what was granted by them. */
export function nextId(store: Store, object: SObject): string {
  const table = tableOf(store, object);
  const from = object.name === 'User' ? 0 : store.madeFrom;
  const id = makeId(object.keyPrefix, from + table.next, store.pod);
  table.next += 1;
  return id;
}

/** How many records an object has given ids to, for auto numbers. */
export function sequenceOf(store: Store, object: SObject): number {
  return tableOf(store, object).next;
}

/** A record by its 18-character id, in the recycle bin or not. */
export function getRow(store: Store, object: SObject, id: string): Row | undefined {
  return tableOf(store, object).rows.get(id);
}

/** A live record of any object. */
export function findLive(store: Store, id: string): { object: SObject; row: Row } | undefined {
  const object = store.schema.byPrefix.get(id.slice(0, 3));
  const row = object ? getRow(store, object, id) : undefined;
  return object && row && !isDeleted(row) ? { object, row } : undefined;
}

export function isDeleted(row: Row): boolean {
  return row['IsDeleted'] === true;
}

/** Whether a deleted record is still in the recycle bin; after 15 days nothing shows it any more. */
export function inBin(store: Store, object: SObject, id: string, now: number): boolean {
  return (tableOf(store, object).deletedAt.get(id) ?? 0) + recycleBinMs > now;
}

/** Rows in order of id; with `deleted`, those still in the recycle bin too. */
export function* scan(store: Store, object: SObject, deleted: boolean, now: number): Generator<Row> {
  for (const [id, row] of tableOf(store, object).rows)
    if (!isDeleted(row) || (deleted && inBin(store, object, id, now))) yield row;
}

export function countRows(store: Store, object: SObject): number {
  return tableOf(store, object).rows.size;
}

/** Deletions in [start, end), oldest first (ms). */
export function deletions(
  store: Store,
  object: SObject,
  start: number,
  end: number,
): { id: string; at: number }[] {
  const found: { id: string; at: number }[] = [];
  for (const [id, at] of tableOf(store, object).deletedAt)
    if (at >= start && at < end) found.push({ id, at });
  return found;
}

/** Live ids whose indexed field has this value, ignoring case unless the field regards it. */
export function lookup(store: Store, object: SObject, f: Field, value: Value): string[] {
  if (value === null) return [];
  const table = tableOf(store, object);
  const found = [...(indexOf(table, f).get(String(value).toLowerCase()) ?? [])];
  return f.caseSensitive ? found.filter((id) => table.rows.get(id)?.[f.name] === value) : found;
}

/** Writes a row (or, with undefined, removes it) and remembers how to undo that. */
export function putRow(
  store: Store,
  tx: Transaction,
  object: SObject,
  id: string,
  row: Row | undefined,
): void {
  const table = tableOf(store, object);
  const before = table.rows.get(id);
  perform(
    tx,
    () => replace(table, id, row),
    () => replace(table, id, before),
  );
}

function perform(tx: Transaction, step: () => void, undo: () => void): void {
  step();
  tx.redo.push(step);
  tx.undo.push(undo);
}

export function markDeleted(store: Store, tx: Transaction, object: SObject, id: string, at: number): void {
  const { deletedAt } = tableOf(store, object);
  perform(
    tx,
    () => deletedAt.set(id, at),
    () => deletedAt.delete(id),
  );
}

/** Removes a record for good: it shows neither in queryAll nor in the delete log. */
export function forget(store: Store, tx: Transaction, object: SObject, id: string): void {
  putRow(store, tx, object, id, undefined);
  const { deletedAt } = tableOf(store, object);
  const at = deletedAt.get(id);
  if (at === undefined) return;
  perform(
    tx,
    () => deletedAt.delete(id),
    () => deletedAt.set(id, at),
  );
}

function replace(table: Table, id: string, row: Row | undefined): void {
  const before = table.rows.get(id);
  if (before && !isDeleted(before)) for (const [name, index] of table.indexes) drop(index, before[name], id);
  if (!row) {
    table.rows.delete(id);
    return;
  }
  table.rows.set(id, row);
  if (!isDeleted(row)) for (const [name, index] of table.indexes) enter(index, row[name], id);
}

/** Builds the index of a field the first time it is asked for. */
function indexOf(table: Table, f: Field): Index {
  const known = table.indexes.get(f.name);
  if (known) return known;
  const index: Index = new Map();
  for (const [id, row] of table.rows) if (!isDeleted(row)) enter(index, row[f.name], id);
  table.indexes.set(f.name, index);
  return index;
}

function enter(index: Index, value: Value | undefined, id: string): void {
  if (value === undefined || value === null) return;
  const key = String(value).toLowerCase();
  const ids = index.get(key);
  if (ids) ids.add(id);
  else index.set(key, new Set([id]));
}

function drop(index: Index, value: Value | undefined, id: string): void {
  if (value === undefined || value === null) return;
  const key = String(value).toLowerCase();
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}

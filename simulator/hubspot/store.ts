import { createSearchView, createUniques } from './store-views.ts';
import type { Indexing, Values } from './store-views.ts';
import type { Change, ObjectType, Row } from './types.ts';
import { isoOf } from './values.ts';

/** The records of one object type. */
export type Table = {
  type: ObjectType;
  /** Ascending by id; archived ones included. */
  rows: Row[];
  /** Goes up with every change; search results are cached by it. */
  version: number;
  get: (id: string) => Row | undefined;
  /** The row of an id, or the one that it was merged into. */
  current: (id: string) => Row | undefined;
  /** Lets an id that is gone lead to a row. */
  lead: (id: string, row: Row) => void;
  /** The search index; it gets changes and deletions later than the table. */
  searchable: () => Row[];
  /** The position of the first row with this id or a later one. */
  seek: (id: number) => number;
  /** The live row with this value of a unique property. */
  byUnique: (property: string, value: string) => Row | undefined;
  insert: (properties: Record<string, string>, at: number, id?: string) => Row;
  /** Sets values; '' clears. */
  update: (row: Row, changes: Record<string, string>, at: number) => void;
  archive: (row: Row, at: number) => void;
  /** Sets when a row was created and changed. */
  date: (row: Row, times: { createdAt?: number; updatedAt?: number }) => void;
  /** Takes the record out for good. */
  purge: (row: Row) => void;
  /** Starts to hold a property unique. */
  addUnique: (property: string) => void;
  /** Indexes the changes that are due. */
  settle: () => void;
};

const FIRST_ID = 501;
const HISTORY_CAP = 20;

type TableOptions = {
  /** The properties held unique from the start. */
  unique: string[];
  indexing: Indexing;
  /** The least id, as of now, of a record that brings none. */
  madeFrom: () => number;
};

/** Makes an empty table. */
export function createTable(type: ObjectType, { unique, indexing, madeFrom }: TableOptions): Table {
  const byId = new Map<string, Row>();
  const merged = new Map<string, Row>();
  const uniques = createUniques(unique);
  const search = createSearchView(indexing);
  let nextId = FIRST_ID;

  function insert(properties: Record<string, string>, at: number, given?: string): Row {
    const id = given ?? String(Math.max(nextId, madeFrom()));
    nextId = Math.max(nextId, Number(id) + 1);
    const dated = { ...properties, ...systemValues(type, id, at) };
    const row: Row = { id, properties: dated, createdAt: at, updatedAt: at, archived: false };
    byId.set(id, row);
    const last = table.rows.at(-1);
    if (!last || Number(last.id) < Number(id)) table.rows.push(row);
    else table.rows.splice(table.seek(Number(id)), 0, row);
    changed(row, {});
    return row;
  }
  function changed(row: Row, before: Values): void {
    uniques.set(row, before, row.properties);
    search.changed(row);
    table.version += 1;
  }
  function archive(row: Row, at: number): void {
    row.archived = true;
    row.archivedAt = at;
    uniques.set(row, row.properties, {});
    search.removed(row);
    table.version += 1;
  }
  function purge(row: Row): void {
    if (!row.archived) archive(row, row.updatedAt);
    byId.delete(row.id);
    table.rows.splice(table.seek(Number(row.id)), 1);
  }
  const table: Table = {
    type,
    rows: [],
    version: 0,
    get: (id) => byId.get(id),
    current: (id) => byId.get(id) ?? merged.get(id),
    lead: (id, row) => {
      for (const [old, known] of merged) if (known.id === id) merged.set(old, row);
      merged.set(id, row);
    },
    searchable: () => search.entries(table.rows),
    seek: (id) => seek(table.rows, id),
    byUnique: uniques.find,
    insert,
    ...rowChanges(type, changed),
    archive,
    purge,
    addUnique: (property) => uniques.add(property, table.rows),
    settle: () => {
      if (search.settle()) table.version += 1;
    },
  };
  return table;
}

/** Changes rows in place; `changed` is called for each, with the values before. */
function rowChanges(
  type: ObjectType,
  changed: (row: Row, before: Values) => void,
): Pick<Table, 'update' | 'date'> {
  function update(row: Row, changes: Record<string, string>, at: number): void {
    const before = row.properties;
    row.properties = {
      ...changedValues(row, changes, at),
      [type.modifiedProperty]: isoOf(at),
    };
    row.updatedAt = at;
    changed(row, before);
  }
  function date(row: Row, times: { createdAt?: number; updatedAt?: number }): void {
    const before = row.properties;
    Object.assign(row, times);
    row.properties = {
      ...before,
      [type.createdProperty]: isoOf(row.createdAt),
      [type.modifiedProperty]: isoOf(row.updatedAt),
    };
    changed(row, before);
  }
  return { update, date };
}

function systemValues(type: ObjectType, id: string, at: number): Record<string, string> {
  const iso = isoOf(at);
  return { hs_object_id: id, [type.createdProperty]: iso, [type.modifiedProperty]: iso };
}

function changedValues(row: Row, changes: Values, at: number): Record<string, string> {
  const after: Record<string, string> = { ...row.properties };
  for (const [name, value] of Object.entries(changes)) {
    remember(row, name, row.properties[name], value, at);
    if (value === '') delete after[name];
    else after[name] = value;
  }
  return after;
}

function remember(row: Row, name: string, before: string | undefined, value: string, at: number): void {
  row.history ??= new Map<string, Change[]>();
  const first = before === undefined ? [] : [{ value: before, at: row.createdAt }];
  const known = row.history.get(name) ?? first;
  row.history.set(name, [{ value, at }, ...known].slice(0, HISTORY_CAP));
}

function seek(rows: Row[], id: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(rows[middle]?.id) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

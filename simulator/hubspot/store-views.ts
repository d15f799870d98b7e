import type { Row } from './types.ts';

export type Values = Readonly<Record<string, string>>;

/** Which live row holds which value of a unique property. */
export type Uniques = {
  find: (property: string, value: string) => Row | undefined;
  /** Follows a row from its old values to its new ones. */
  set: (row: Row, before: Values, after: Values) => void;
  add: (property: string, rows: Row[]) => void;
};

export function createUniques(properties: string[]): Uniques {
  const indexes = new Map<string, Map<string, Row>>(properties.map((name) => [name, new Map()]));
  function set(row: Row, before: Values, after: Values): void {
    for (const [name, index] of indexes) {
      const old = before[name];
      const fresh = after[name];
      if (old !== undefined && old !== fresh && index.get(uniqueKey(old)) === row)
        index.delete(uniqueKey(old));
      if (fresh) index.set(uniqueKey(fresh), row);
    }
  }
  function add(property: string, rows: Row[]): void {
    if (indexes.has(property)) return;
    indexes.set(property, new Map());
    for (const row of rows) if (!row.archived) set(row, {}, row.properties);
  }
  return { find: (property, value) => indexes.get(property)?.get(uniqueKey(value)), set, add };
}

/** Unique values are compared without case (email is, providers H8). */
export function uniqueKey(value: string): string {
  return value.trim().toLowerCase();
}

/** When written changes become visible to search. */
export type Indexing = { now: () => number; lagMs: () => number; frozen: () => boolean };

/** What search sees of each row, late by the index's lag. */
export type SearchView = {
  changed: (row: Row) => void;
  /** Brings in what is due; true when that was anything. */
  settle: () => boolean;
};

export function createSearchView(indexing: Indexing): SearchView {
  let pending: { dueAt: number; row: Row; properties: Values }[] = [];
  function changed(row: Row): void {
    if (indexing.lagMs() === 0 && !indexing.frozen() && pending.length === 0) row.indexed = row.properties;
    else pending.push({ dueAt: indexing.now() + indexing.lagMs(), row, properties: row.properties });
  }
  function settle(): boolean {
    if (pending.length === 0 || indexing.frozen()) return false;
    const now = indexing.now();
    const before = pending.length;
    for (const one of pending) if (one.dueAt <= now) one.row.indexed = one.properties;
    pending = pending.filter((one) => one.dueAt > now);
    return pending.length < before;
  }
  return { changed, settle };
}

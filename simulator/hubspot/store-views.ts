import type { Row } from './types.ts';

export type Values = Readonly<Record<string, string>>;

/** Which live row holds which value of a unique property. */
export type Uniques = {
  find: (property: string, value: string) => Row | undefined;
  /** Replaces the old values of a row by its new ones. */
  set: (row: Row, before: Values, after: Values) => void;
  add: (property: string, rows: Row[]) => void;
};

export function createUniques(properties: string[]): Uniques {
  const indexes = new Map<string, Map<string, Row>>(properties.map((name) => [name, new Map()]));
  function set(row: Row, before: Values, after: Values): void {
    for (const [name, index] of indexes) {
      for (const old of valuesOf(name, before))
        if (index.get(uniqueKey(old)) === row) index.delete(uniqueKey(old));
      for (const fresh of valuesOf(name, after)) index.set(uniqueKey(fresh), row);
    }
  }
  function add(property: string, rows: Row[]): void {
    if (indexes.has(property)) return;
    indexes.set(property, new Map());
    for (const row of rows) if (!row.archived) set(row, {}, row.properties);
  }
  return { find: (property, value) => indexes.get(property)?.get(uniqueKey(value)), set, add };
}

function valuesOf(name: string, values: Values): string[] {
  if (name === 'email') return addressesOf(values);
  const value = values[name];
  return value ? [value] : [];
}

/** The address of a contact and its further ones, by which it is found, too. */
export function addressesOf({ email, hs_additional_emails: further }: Values): string[] {
  return [email ?? '', ...(further?.split(';') ?? [])].filter((one) => one !== '');
}

/** Unique values are compared without case (email is one). */
export function uniqueKey(value: string): string {
  return value.trim().toLowerCase();
}

/** When written changes become visible to search; each change is late by a lag of its own. */
export type Indexing = { now: () => number; lagMs: () => number; frozen: () => boolean };

/** The rows as search sees them, late by the index's lag. */
export type SearchView = {
  changed: (row: Row) => void;
  /** A row that is archived or gone: it stays in the index for as long as a change would stay out. */
  removed: (row: Row) => void;
  /** Indexes the changes that are due; true when there were any. */
  settle: () => boolean;
  /** The rows the index holds, in order of id: those of the table and those it does not know to be gone. */
  entries: (rows: Row[]) => Row[];
};

export function createSearchView(indexing: Indexing): SearchView {
  type Pending = { number: number; dueAt: number; row: Row; properties: Values | undefined };
  let pending: Pending[] = [];
  let count = 0;
  const ghosts = new Set<Row>();
  /** The newest indexed change of a row; an older one that arrives later is ignored. */
  const newest = new WeakMap<Row, number>();
  function enter({ number, row, properties }: Omit<Pending, 'dueAt'>): void {
    if ((newest.get(row) ?? 0) > number) return;
    newest.set(row, number);
    if (properties) row.indexed = properties;
    else {
      delete row.indexed;
      ghosts.delete(row);
    }
  }
  function note(row: Row, properties: Values | undefined): void {
    const lag = indexing.lagMs();
    count += 1;
    const change = { number: count, row, properties };
    if (lag === 0 && !indexing.frozen() && pending.length === 0) return enter(change);
    if (!properties) ghosts.add(row);
    pending.push({ ...change, dueAt: indexing.now() + lag });
  }
  function settle(): boolean {
    if (pending.length === 0 || indexing.frozen()) return false;
    const now = indexing.now();
    const before = pending.length;
    for (const one of pending) if (one.dueAt <= now) enter(one);
    pending = pending.filter((one) => one.dueAt > now);
    return pending.length < before;
  }
  function entries(rows: Row[]): Row[] {
    const live = rows.filter((row) => !row.archived && row.indexed !== undefined);
    const late = [...ghosts].filter((row) => row.indexed !== undefined);
    return late.length === 0 ? live : [...live, ...late].toSorted((a, b) => Number(a.id) - Number(b.id));
  }
  return {
    changed: (row) => note(row, row.properties),
    removed: (row) => note(row, undefined),
    settle,
    entries,
  };
}

import { isExactNumber } from '../../kit/json.ts';
import { fixedColumns } from './frame.ts';
import type { Row } from './rows.ts';

/** The types of the columns that are made here. */
export type OwnType = 'text' | 'numeric' | 'boolean' | 'jsonb';

/** A column as the database has it. */
export interface Column {
  name: string;
  /** Without what limits its length. */
  type: string;
  /** What a text is cast to: the type without its limits, which the column itself holds a value to. A cast to them would cut it. */
  cast: string;
  /** Its type cuts what is too long for it, without a word. */
  cuts: boolean;
  /** It was made for a mapped field; any other is the customer's. */
  isOurs: boolean;
  /** No record had a value for it yet: its type is a guess. */
  isBare: boolean;
}

export type Columns = ReadonlyMap<string, Column>;

/** `addBare`: without a value that tells its type; `settle`: it has the first one. */
export type Change =
  | { kind: 'add' | 'widen' | 'settle'; column: string; type: OwnType }
  | { kind: 'addBare'; column: string };

/** What the table needs before the rows have room in it; a column never gets narrower. */
export interface Plan {
  /** Fixed columns that are missing. */
  fixed: string[];
  changes: Change[];
}

/** So that `mapped` have a column each, and the rows room in it. Undefined when nothing is to be done. */
export function planOf(
  columns: Columns,
  rows: readonly Row[],
  mapped: Iterable<string> = [],
): Plan | undefined {
  const fixed = Object.keys(fixedColumns).filter((name) => !columns.has(name));
  const types = typesIn(rows);
  const changes: Change[] = [...types]
    .map(([column, type]) => changeFor(columns.get(column), column, type))
    .filter((change) => change !== undefined);
  for (const column of mapped)
    if (!columns.has(column) && !types.has(column)) changes.push({ kind: 'addBare', column });
  return fixed.length === 0 && changes.length === 0 ? undefined : { fixed, changes };
}

/** Texts hold everything, and so does JSON. A column of another's is taken as it is. */
function changeFor(found: Column | undefined, column: string, type: OwnType): Change | undefined {
  if (!found) return { kind: 'add', column, type };
  if (found.isBare) return { kind: 'settle', column, type };
  const isNarrow = found.type === 'numeric' || found.type === 'boolean';
  if (!found.isOurs || !isNarrow || found.type === type) return undefined;
  return { kind: 'widen', column, type: type === 'jsonb' ? 'jsonb' : 'text' };
}

/** The type that the values of each column have in common. A column without a value has none. */
function typesIn(rows: readonly Row[]): Map<string, OwnType> {
  const types = new Map<string, OwnType>();
  for (const { values } of rows) {
    for (const [column, value] of values) {
      const type = typeOf(value);
      if (type) types.set(column, common(types.get(column), type));
    }
  }
  return types;
}

function typeOf(value: unknown): OwnType | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number' || isExactNumber(value)) return 'numeric';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'object' ? 'jsonb' : 'text';
}

function common(one: OwnType | undefined, other: OwnType): OwnType {
  if (one === undefined || one === other) return other;
  return one === 'jsonb' || other === 'jsonb' ? 'jsonb' : 'text';
}

/** The value as the text that is cast to the column's type. */
export function textFor(type: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const isJson = type === 'json' || type === 'jsonb';
  return typeof value === 'string' && !isJson ? value : JSON.stringify(value);
}

import type { Field } from '../schema/fields.ts';
import type { Row, Value } from '../store/store.ts';
import type { Test } from './filter.ts';
import type { Compare } from './order.ts';
import type { Scope } from './paths.ts';

/** A query ready to run. For a sub-query of children, `link` is the lookup to the parent. */
export type Plan = {
  scope: Scope;
  count: boolean;
  columns: Column[];
  test: Test;
  /** Makes groups of the matching rows; null when the query answers records. */
  group: ((rows: Row[]) => Row[]) | null;
  compare: Compare | null;
  limit: number;
  offset: number;
  /** Ids that may match, when the condition names them; undefined means all rows. */
  candidates: string[] | undefined;
  link: Field | null;
};

/** A column of the answer: a value, one that a function makes, a parent with its own columns, or a list of children. */
export type Column =
  | { kind: 'value'; field: Field }
  | { kind: 'computed'; name: string; type: Field['type']; read: (row: Row) => Value }
  | { kind: 'parent'; name: string; field: Field; columns: Column[] }
  | { kind: 'typeof'; name: string; field: Field; byType: Map<string, Column[]> }
  | { kind: 'children'; name: string; plan: Plan };

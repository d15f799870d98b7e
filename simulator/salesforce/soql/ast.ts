/** A value as written in a WHERE clause; `macro` is a date literal such as LAST_N_DAYS:7. */
export type Literal = {
  kind: 'string' | 'number' | 'boolean' | 'null' | 'date' | 'datetime' | 'macro';
  text: string;
  n?: number;
  pos: number;
};

export type Path = { names: string[]; pos: number };

/** A function applied to a path or to another function; `text` is how it was written. */
export type FunctionCall = { name: string; arg: Expression; text: string; pos: number };

/** What is selected, compared, grouped by or ordered by. */
export type Expression = { kind: 'path'; path: Path } | { kind: 'call'; call: FunctionCall };

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'like';

export type Condition =
  | { kind: 'and'; items: Condition[] }
  | { kind: 'or'; items: Condition[] }
  | { kind: 'not'; item: Condition }
  | { kind: 'compare'; left: Expression; operator: Comparison; value: Literal }
  | { kind: 'in'; left: Expression; negated: boolean; values: Literal[] | Query }
  | { kind: 'includes'; left: Expression; negated: boolean; values: Literal[] };

/** `TYPEOF What WHEN Account THEN Phone ELSE Name END` */
export type TypeOf = {
  relationship: Path;
  whens: { type: string; pos: number; paths: Path[] }[];
  otherwise: Path[] | null;
};

export type Selected =
  | { kind: 'expression'; value: Expression; alias: string | null }
  | { kind: 'typeof'; typeOf: TypeOf }
  | { kind: 'fields'; which: 'ALL' | 'STANDARD' | 'CUSTOM'; pos: number }
  | { kind: 'children'; query: Query };

export type Ordering = { by: Expression; descending: boolean; nullsLast: boolean };

export type Query = {
  /** True for `SELECT COUNT()`. */
  count: boolean;
  select: Selected[];
  from: { name: string; alias: string | null; pos: number };
  where: Condition | null;
  groupBy: Expression[];
  having: Condition | null;
  order: Ordering[];
  limit: number | null;
  offset: number | null;
  offsetPos: number;
};

/** Where an expression stands in the query. */
export function placeOf(expression: Expression): number {
  return expression.kind === 'path' ? expression.path.pos : expression.call.pos;
}

/** A value as written in a WHERE clause; `macro` is a date literal such as LAST_N_DAYS:7. */
export type Literal = {
  kind: 'string' | 'number' | 'boolean' | 'null' | 'date' | 'datetime' | 'macro';
  text: string;
  n?: number;
  pos: number;
};

export type Path = { names: string[]; pos: number };

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'like';

export type Condition =
  | { kind: 'and'; items: Condition[] }
  | { kind: 'or'; items: Condition[] }
  | { kind: 'not'; item: Condition }
  | { kind: 'compare'; path: Path; operator: Comparison; value: Literal }
  | { kind: 'in'; path: Path; negated: boolean; values: Literal[] | Query }
  | { kind: 'includes'; path: Path; negated: boolean; values: Literal[] };

export type Selected =
  | { kind: 'path'; path: Path }
  | { kind: 'fields'; which: 'ALL' | 'STANDARD' | 'CUSTOM'; pos: number }
  | { kind: 'children'; query: Query };

export type Ordering = { path: Path; descending: boolean; nullsLast: boolean };

export type Query = {
  /** True for `SELECT COUNT()`. */
  count: boolean;
  select: Selected[];
  from: { name: string; alias: string | null; pos: number };
  where: Condition | null;
  order: Ordering[];
  limit: number | null;
  offset: number | null;
  offsetPos: number;
};

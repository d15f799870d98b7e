import type { Reach } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { erasedUntil } from '../../kit/db/erasing.ts';
import { isTaken } from '../../kit/db/faults.ts';
import { statement } from '../../kit/db/statement.ts';

/** Whose call it was. */
export interface ProxyLogTarget {
  project_id: string;
  integration_id: string;
  installation_id: string;
  connection_id: string;
  group_ref: string;
  provider: string;
}

/** The call and its result. */
export interface ProxyLogCall {
  id: string;
  method: string;
  path: string;
  status: number | null;
  problem: string | null;
  provider_ms: number | null;
  total_ms: number;
}

/** A proxied call as it is kept. */
export type ProxyLogRow = ProxyLogTarget & ProxyLogCall;

const targetColumns = [
  ['project_id', 'uuid'],
  ['integration_id', 'uuid'],
  ['installation_id', 'uuid'],
  ['connection_id', 'uuid'],
  ['group_ref', 'text'],
  ['provider', 'text'],
] as const satisfies [keyof ProxyLogTarget, string][];
const callColumns = [
  ['id', 'uuid'],
  ['method', 'text'],
  ['path', 'text'],
  ['status', 'smallint'],
  ['problem', 'text'],
  ['provider_ms', 'integer'],
  ['total_ms', 'integer'],
] as const satisfies [keyof ProxyLogCall, string][];

const listed = (columns: readonly (readonly [string, string])[]): string =>
  columns.map(([name]) => name).join(', ');
const arrays = (columns: readonly (readonly [string, string])[], from: number): string =>
  columns.map(([, type], i) => `$${from + i}::${type}[]`).join(', ');
const names = `${listed(targetColumns)}, ${listed(callColumns)}`;

// Thousands of calls have few targets, so each target is sent once. ON CONFLICT would take a third of the statement's time.
const insert = statement(
  'proxy_log_insert',
  `INSERT INTO proxy_log (${names})
   SELECT ${names}
   FROM unnest($1::integer[], ${arrays(callColumns, 2)}) AS c(n, ${listed(callColumns)})
   JOIN (
     SELECT *, ${erasedUntil('t.project_id', 't.group_ref')} AS erased_until
     FROM unnest(${arrays(targetColumns, 2 + callColumns.length)}) WITH ORDINALITY AS t(${listed(targetColumns)}, n) OFFSET 0) t USING (n)
   WHERE coalesce(c.id >= erased_until, true)`,
);

const search = statement(
  'proxy_log_search',
  `SELECT ${names} FROM proxy_log
   WHERE project_id = $1 AND id < $2 AND id >= greatest($3::uuid, svc_kept_from($1, 'proxyLogs'))
     AND ($4::uuid IS NULL OR installation_id = $4) AND ($5::text IS NULL OR group_ref = $5)
     AND ($6::text IS NULL OR method = $6) AND ($7::text IS NULL OR position($7 IN path) > 0)
     AND ($8::integer IS NULL OR status BETWEEN $8 AND $9::integer) AND ($11::text IS NULL OR group_ref = $11)
   ORDER BY id DESC LIMIT $10`,
);

/** Writes all that no erasure removes meanwhile, or none. Does nothing for a batch that is there already (its answer was lost). `target`: one object for all its calls. */
export async function insertLogRows<Target extends object>(
  db: Queryable,
  calls: readonly { target: Target; call: ProxyLogCall }[],
  rowOf: (target: Target) => ProxyLogTarget,
): Promise<void> {
  const numbers = new Map<Target, number>();
  const places = calls.map(({ target }) => {
    const known = numbers.get(target);
    if (known !== undefined) return known;
    numbers.set(target, numbers.size + 1);
    return numbers.size;
  });
  const targets = [...numbers.keys()].map(rowOf);
  try {
    await db.rows(insert, [
      places,
      ...callColumns.map(([name]) => calls.map(({ call }) => call[name])),
      ...targetColumns.map(([name]) => targets.map((target) => target[name])),
    ]);
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}

export interface LogQuery {
  /** Both UUIDs: the first is left out, the second is not. */
  before: string;
  from: string;
  installationId?: string | undefined;
  groupRef?: string | undefined;
  method?: string | undefined;
  path?: string | undefined;
  status?: readonly [least: number, most: number] | undefined;
  limit: number;
}

/** Newest first. */
export function searchLog(db: Queryable, reach: Reach, query: LogQuery): Promise<ProxyLogRow[]> {
  const [least = null, most = null] = query.status ?? [];
  return db.rows<ProxyLogRow>(search, [
    reach.projectId,
    query.before,
    query.from,
    query.installationId ?? null,
    query.groupRef ?? null,
    query.method ?? null,
    query.path ?? null,
    least,
    most,
    query.limit,
    reach.groupRef ?? null,
  ]);
}

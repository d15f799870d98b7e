import type { Queryable } from './database.ts';
import type { PartitionedTable } from './partitions.ts';
import { statement, type Statement } from './statement.ts';

/** How much there is: rows, and bytes without indexes. */
export interface Size {
  rows: number;
  bytes: number;
  /** There are too many to count: by the statistics that PostgreSQL keeps. */
  isEstimate: boolean;
}

/** More rows than these are estimated. */
const mostCounted = 50_000;
/** The newest rows say how large one is. */
const sampled = 500;
/** Of a row, beside its large columns: header, ids and times. */
const rowBytes = 150;

const statements = new Map<string, Statement>();

/** Walks the first 50,000 entries of one index, and reads 500 rows; what is stored apart is measured without being read. */
function measuring({ table, key, large = [] }: PartitionedTable): Statement {
  const sizes = large.map((column) => `coalesce(pg_column_size(t.${column}), 0)`).join(' + ') || '0';
  const made =
    statements.get(table) ??
    statement(
      `size_of_${table}`,
      `SELECT (SELECT count(*) FROM (SELECT FROM ${table} WHERE project_id = $1 LIMIT ${mostCounted + 1}) c)::float8 AS rows,
        (SELECT avg(${sizes}) FROM (
          SELECT * FROM ${table} WHERE project_id = $1 ORDER BY ${key} DESC LIMIT ${sampled}) t)::float8 AS bytes`,
    );
  statements.set(table, made);
  return made;
}

const estimated = statement(
  'size_estimated',
  `SELECT coalesce(sum(c.reltuples * v.share) FILTER (WHERE c.reltuples > 0), 0)::float8 AS rows
  FROM pg_partition_tree($1::regclass) p
  JOIN pg_class c ON c.oid = p.relid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = 'project_id'
  CROSS JOIN LATERAL unnest(s.most_common_vals::text::text[], s.most_common_freqs) v(value, share)
  WHERE p.isleaf AND v.value = $2`,
);

const whole = statement(
  'size_whole',
  `SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 AS rows, coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes
  FROM unnest($1::text[]) t CROSS JOIN pg_partition_tree(t::regclass) p JOIN pg_class c ON c.oid = p.relid WHERE p.isleaf`,
);

/** What a project has of a table. */
export async function sizeOfProject(
  db: Queryable,
  table: PartitionedTable,
  projectId: string,
): Promise<Size> {
  const [found] = await db.rows<{ rows: number; bytes: number | null }>(measuring(table), [projectId]);
  const counted = found?.rows ?? 0;
  const each = rowBytes + (found?.bytes ?? 0);
  if (counted <= mostCounted) return { rows: counted, bytes: Math.round(counted * each), isEstimate: false };
  const [known] = await db.rows<{ rows: number }>(estimated, [table.table, projectId]);
  const rows = Math.round(Math.max(counted, known?.rows ?? 0));
  return { rows, bytes: Math.round(rows * each), isEstimate: true };
}

/** What all projects have in these tables, with their indexes, as PostgreSQL last counted. */
export async function sizeOfAll(
  db: Queryable,
  tables: readonly PartitionedTable[],
): Promise<{ rows: number; bytes: number }> {
  const [found] = await db.rows<{ rows: number; bytes: number }>(whole, [tables.map(({ table }) => table)]);
  return found ?? { rows: 0, bytes: 0 };
}

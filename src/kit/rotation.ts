import { crashPoint } from './crash-point.ts';
import type { Database } from './db/database.ts';
import { statement, type Statement } from './db/statement.ts';
import type { Vault } from './vault.ts';

const firstProjectId = '00000000-0000-0000-0000-000000000000';

/** A column of sealed values, in a table whose primary key is the project and one more, or one column alone. */
export interface SealedColumn {
  /** `table.column` */
  name: string;
  /** Sorts before every row id. */
  firstRowId: string | Buffer;
  place: (projectId: string, rowId: string | Buffer) => string;
  read: Statement;
  swap: Statement;
  count: Statement;
  /** Any one row. */
  sample: Statement;
}

/** Declares the statements of a rotation. All names come from the source, none from outside. */
export function sealedColumn(options: {
  table: string;
  rowId: { column: string; first: string | Buffer };
  column: string;
  place: SealedColumn['place'];
  /** Whose rows belong to no project. */
  isOfNoProject?: true;
}): SealedColumn {
  const { table, column, place } = options;
  const project = options.isOfNoProject ? `'${firstProjectId}'::uuid` : 'project_id';
  const { column: id, first } = options.rowId;
  return {
    name: `${table}.${column}`,
    firstRowId: first,
    place,
    read: statement(
      `${table}_sealed_read`,
      `SELECT ${project} AS project_id, ${id} AS row_id, ${column} AS value FROM ${table}
       WHERE (${project}, ${id}) > ($1, $2) AND substring(${column} FROM 1 FOR length($3::bytea)) <> $3
       ORDER BY 1, ${id} LIMIT ${batchSize}`,
    ),
    // A write meanwhile wins: a committed refresh is never undone.
    swap: statement(
      `${table}_sealed_swap`,
      `UPDATE ${table} SET ${column} = $4 WHERE ${project} = $1 AND ${id} = $2 AND ${column} = $3 RETURNING 1 AS done`,
    ),
    count: statement(
      `${table}_sealed_count`,
      `SELECT convert_from(substring(${column} FROM 3 FOR get_byte(${column}, 1)), 'UTF8') AS key_id, count(*)::float8 AS count
       FROM ${table} GROUP BY 1 ORDER BY 1`,
    ),
    sample: statement(
      `${table}_sealed_sample`,
      `SELECT ${project} AS project_id, ${id} AS row_id, ${column} AS value FROM ${table} LIMIT 1`,
    ),
  };
}

/** What one run did and found. */
export interface Rotation {
  rewrapped: number;
  /** The keys of the values of each column, now. */
  kept: { column: string; keyId: string; count: number }[];
  /** Values that no configured key opens in their row. */
  shut: { column: string; projectId: string; rowId: string; reason: string }[];
  /** Whether every value is under the first key and the others may be removed. */
  isDone: boolean;
}

interface SealedRow {
  project_id: string;
  row_id: string | Buffer;
  value: Buffer;
}

const batchSize = 50;
// A node that has the keys in another order keeps writing under an old key; no pass would end.
const mostPasses = 5;

/**
 * Wraps every sealed value under the first master key, row by row, while the nodes run. Holds no lock longer than one row's
 * update and keeps no state: what a killed run left, the next one finds.
 */
export async function rotateKeys(
  database: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
  tell: (line: string) => void = () => undefined,
): Promise<Rotation> {
  let rewrapped = 0;
  const shut: Rotation['shut'] = [];
  for (const column of columns) {
    for (let pass = 1; pass <= mostPasses; pass += 1) {
      const found = await rotateColumn(database, vault, column, (done) =>
        tell(`${column.name}: ${rewrapped + done} rewrapped`),
      );
      rewrapped += found.rewrapped;
      if (found.overtaken > 0 && pass < mostPasses) continue;
      shut.push(...found.shut);
      break;
    }
  }
  const kept = await Promise.all(columns.map(async (column) => countKeys(database, column)));
  const counts = kept.flat();
  return { rewrapped, kept: counts, shut, isDone: counts.every(({ keyId }) => keyId === vault.activeKeyId) };
}

interface Pass {
  rewrapped: number;
  /** Written by somebody else between our reading and our writing. */
  overtaken: number;
  shut: Rotation['shut'];
}

async function rotateColumn(
  database: Database,
  vault: Vault,
  column: SealedColumn,
  tell: (rewrapped: number) => void,
): Promise<Pass> {
  const pass: Pass = { rewrapped: 0, overtaken: 0, shut: [] };
  let after: [string, string | Buffer] = [firstProjectId, column.firstRowId];
  for (;;) {
    const rows = await database.rows<SealedRow>(column.read, [...after, vault.activePrefix]);
    for (const row of rows) await rotateRow(database, vault, column, row, pass);
    if (rows.length > 0) tell(pass.rewrapped);
    const last = rows.at(-1);
    if (!last) return pass;
    after = [last.project_id, last.row_id];
  }
}

async function rotateRow(
  database: Database,
  vault: Vault,
  column: SealedColumn,
  { project_id: projectId, row_id: rowId, value }: SealedRow,
  pass: Pass,
): Promise<void> {
  let fresh: Buffer;
  try {
    fresh = vault.rewrap(value, column.place(projectId, rowId));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const shownId = typeof rowId === 'string' ? rowId : rowId.toString('hex');
    pass.shut.push({ column: column.name, projectId, rowId: shownId, reason });
    return;
  }
  const swapped = await database.rows(column.swap, [projectId, rowId, value, fresh]);
  if (swapped.length > 0) pass.rewrapped += 1;
  else pass.overtaken += 1;
  crashPoint('after-rewrap');
}

async function countKeys(database: Database, column: SealedColumn): Promise<Rotation['kept']> {
  const rows = await database.rows<{ key_id: string; count: number }>(column.count);
  return rows.map(({ key_id: keyId, count }) => ({ column: column.name, keyId, count }));
}

import type { Queryable } from '../../kit/db/database.ts';
import { isTaken } from '../../kit/db/faults.ts';
import { chosenByIds, erasedOf, erasedUntil, eraserByIds, ofChosen } from '../../kit/db/erasing.ts';
import { statement } from '../../kit/db/statement.ts';
import type { ExchangeRow } from './exchange.ts';

const columns = [
  ['project_id', 'uuid'],
  ['id', 'uuid'],
  ['operation_id', 'uuid'],
  ['group_ref', 'text'],
  ['attempt', 'integer'],
  ['method', 'text'],
  ['path', 'text'],
  ['request_headers', 'json'],
  ['request_body', 'text'],
  ['request_bytes', 'integer'],
  ['status', 'smallint'],
  ['fault', 'text'],
  ['answer_headers', 'json'],
  ['answer_body', 'text'],
  ['answer_bytes', 'integer'],
  ['total_ms', 'integer'],
] as const satisfies [keyof ExchangeRow, string][];
const names = columns.map(([name]) => name).join(', ');

const insert = statement(
  'exchange_insert',
  `INSERT INTO exchange (${names})
  SELECT * FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')}) AS x(${names})
  WHERE project_id = ANY (ARRAY (SELECT p FROM unnest($${columns.length + 1}::uuid[]) p WHERE svc_keeps(p, 'exchanges')))
    AND coalesce(x.id >= ${erasedUntil('x.project_id', 'x.group_ref')}, true)`,
);

const list = statement(
  'exchange_list',
  `SELECT ${names.replace(/(\w+_headers)/g, '$1::text')} FROM exchange
  WHERE project_id = $1 AND operation_id = $2 AND id > greatest($3::uuid, svc_kept_from($1, 'exchanges')) ORDER BY id LIMIT $4`,
);

const erase = statement(
  'exchange_erase',
  `WITH ${chosenByIds('exchange', 't.group_ref')},
  exchanges AS (DELETE FROM exchange WHERE ${ofChosen('id')} RETURNING 1)
  ${erasedOf(['exchanges'])}`,
);

/** Writes those of projects that want them and did not erase them meanwhile, all or none. Does nothing for a batch that is there already (its answer was lost). */
export async function insertExchanges(db: Queryable, rows: readonly ExchangeRow[]): Promise<void> {
  try {
    await db.rows(insert, [
      ...columns.map(([name]) => rows.map((row) => row[name])),
      [...new Set(rows.map((row) => row.project_id))],
    ]);
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}

/** Oldest first, from after the given id. */
export function listExchanges(
  db: Queryable,
  projectId: string,
  operationId: string,
  afterId: string,
  limit: number,
): Promise<ExchangeRow[]> {
  return db.rows<ExchangeRow>(list, [projectId, operationId, afterId, limit]);
}

export const eraseExchanges = eraserByIds(erase);

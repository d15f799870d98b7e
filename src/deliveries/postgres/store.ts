import { createHash } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { textArray } from '../../kit/db/binary-array.ts';
import { textFor, type Change, type Column, type Columns, type Plan } from './columns.ts';
import { fixedColumns, keyColumns } from './frame.ts';
import { qualified } from './names.ts';
import type { Row } from './rows.ts';
import type { Session, TableRow } from './session.ts';

/** Where records go. */
export interface TablePlace {
  schema: string;
  table: string;
}

export interface Found {
  /** In PostgreSQL's letters: r for a table, p for one of partitions. */
  kind: string;
  columns: Columns;
}

/** What the rows of one message have in common. */
export interface Common {
  installationId: string;
  groupRef: string;
  seq: string;
}

/** For one statement, well below the limit of a delivery. */
const statementMs = 20_000;
const lockMs = 10_000;
export const rowsPerStatement = 500;
/** Tells columns that were made here from those of the customer. */
const mark = 'svc: ';
/** Of a column that has no value yet; it is still as it was made. */
const bareMark = ', of which no record had a value yet';
const bareType = 'text';

const roundKind = { shared: 'pg_advisory_xact_lock_shared', alone: 'pg_advisory_xact_lock' } as const;

/**
 * Begins, and tells what the table is like, which stays so until the end: whoever changes it waits for the lock. The server's
 * own choice of isolation would fail rows that two nodes write at once.
 */
export async function beginOn(
  session: Session,
  place: TablePlace,
  round: keyof typeof roundKind,
): Promise<Found | undefined> {
  const rows = await session.script([
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    `SET LOCAL statement_timeout = ${statementMs}`,
    `SET LOCAL lock_timeout = ${lockMs}`,
    `SELECT ${roundKind[round]}(${lockOf(place)})`,
    lookText(place),
  ]);
  return rows.length === 0 ? undefined : foundFrom(rows);
}

export async function commit(session: Session): Promise<void> {
  await session.script(['COMMIT']);
}

export async function rollBack(session: Session): Promise<void> {
  await session.script(['ROLLBACK']);
}

/** Whether there could be tables, or the customer made some; whether anything can be written. */
export async function lookAround(
  session: Session,
  schema: string,
): Promise<{ mayWrite: boolean; isReadOnly: boolean }> {
  const [row] = await session.rows(lookAroundText, [schema]);
  return { mayWrite: row?.['may_write'] === true, isReadOnly: row?.['is_read_only'] === true };
}

const lookAroundText = `
  SELECT current_setting('transaction_read_only') = 'on' AS is_read_only,
    has_schema_privilege($1, 'USAGE') AND (has_schema_privilege($1, 'CREATE') OR EXISTS (
      SELECT FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'record_id'
      WHERE s.nspname = $1 AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'INSERT'))) AS may_write`;

function lookText({ schema, table }: TablePlace): string {
  return `SELECT c.relkind AS kind, a.attname AS name, format_type(a.atttypid, NULL) AS type,
      CASE WHEN base.typcategory = 'S' THEN 'text' ELSE format_type(base.oid, -1) END AS cast, base.typname IN ('name', 'char') AS cuts,
      coalesce(starts_with(col_description(c.oid, a.attnum), ${escapeLiteral(mark)}), false) AS ours,
      coalesce(right(col_description(c.oid, a.attnum), ${bareMark.length}) = ${escapeLiteral(bareMark)}, false) AS bare
    FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
      LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN LATERAL (
        WITH RECURSIVE t AS (
          SELECT * FROM pg_type WHERE pg_type.oid = a.atttypid
          UNION ALL SELECT b.* FROM t JOIN pg_type b ON b.oid = t.typbasetype)
        SELECT t.oid, t.typcategory, t.typname FROM t WHERE t.typbasetype = 0) base ON true
    WHERE s.nspname = ${escapeLiteral(schema)} AND c.relname = ${escapeLiteral(table)}`;
}

function foundFrom(rows: readonly TableRow[]): Found {
  const columns = rows
    .filter(({ name }) => name !== null)
    .map(({ name, type, cast, cuts, ours, bare }): Column => ({
      name: String(name),
      type: String(type),
      cast: String(cast),
      cuts: cuts === true,
      isOurs: ours === true,
      isBare: ours === true && bare === true && type === bareType,
    }));
  return {
    kind: String(rows[0]?.['kind']),
    columns: new Map(columns.map((column) => [column.name, column])),
  };
}

/** One number for each table of a database. */
function lockOf({ schema, table }: TablePlace): string {
  const hash = createHash('sha256')
    .update(JSON.stringify(['svc', schema, table]))
    .digest();
  return hash.readBigInt64BE().toString();
}

/** Makes what the plan tells, under the lock of {@link beginOn}. */
export async function change(
  session: Session,
  place: TablePlace,
  plan: Plan,
  isNew: boolean,
  fieldOf: ReadonlyMap<string, string>,
): Promise<void> {
  const target = qualified(place.schema, place.table);
  await session.script([
    isNew ? createText(target) : '',
    ...(isNew ? [] : plan.fixed.map((name) => addText(target, name, fixedColumns[name] ?? ''))),
    ...plan.changes.flatMap((one) => changeTexts(target, one, fieldOf.get(one.column) ?? one.column)),
  ]);
}

function createText(target: string): string {
  const columns = Object.entries(fixedColumns).map(([name, type]) => `${escapeIdentifier(name)} ${type}`);
  return `CREATE TABLE IF NOT EXISTS ${target} (${columns.join(', ')}, PRIMARY KEY (${keyColumns.join(', ')}))`;
}

function addText(target: string, name: string, type: string): string {
  return `ALTER TABLE ${target} ADD COLUMN IF NOT EXISTS ${escapeIdentifier(name)} ${type}`;
}

function changeTexts(target: string, wanted: Change, field: string): string[] {
  const { kind, column } = wanted;
  const name = escapeIdentifier(column);
  const told = (end = ''): string =>
    `COMMENT ON COLUMN ${target}.${name} IS ${escapeLiteral(`${mark}the mapped field ${JSON.stringify(field)}${end}`)}`;
  if (kind === 'addBare') return [addText(target, column, bareType), told(bareMark)];
  const { type } = wanted;
  if (kind === 'add') return [addText(target, column, type), told()];
  const retype = `ALTER TABLE ${target} ALTER COLUMN ${name} TYPE ${type} USING`;
  if (kind === 'widen') return [`${retype} ${type === 'jsonb' ? `to_jsonb(${name})` : `${name}::text`}`];
  // Whatever somebody else wrote there stays, and so does the type while a view holds the column: texts hold everything.
  const isEmpty = `NOT EXISTS (SELECT FROM ${target} WHERE ${name} IS NOT NULL)`;
  const held = 'EXCEPTION WHEN feature_not_supported OR dependent_objects_still_exist THEN NULL;';
  const settle = `BEGIN IF ${isEmpty} THEN ${retype} NULL; END IF; ${held} END`;
  return [type === bareType ? '' : `DO ${escapeLiteral(settle)}`, told()];
}

/** Keeps the rows that are newer than what is there. */
export async function upsert(
  session: Session,
  place: TablePlace,
  columns: Columns,
  common: Common,
  rows: readonly Row[],
): Promise<void> {
  const used = [...new Set(rows.flatMap(({ values }) => [...values.keys()]))].filter((name) =>
    columns.has(name),
  );
  for (let at = 0; at < rows.length; at += rowsPerStatement) {
    const part = rows.slice(at, at + rowsPerStatement);
    const values = [
      common.installationId,
      common.seq,
      common.groupRef,
      textArray(part.map(({ id }) => id)),
      textArray(part.map(({ version }) => version)),
      textArray(part.map(({ deleted }) => String(deleted))),
      textArray(part.map(({ fields }) => fields)),
      textArray(part.map(({ associations }) => associations)),
      textArray(part.map(({ raw }) => raw)),
      ...used.map((name) =>
        textArray(part.map((row) => textFor(columns.get(name)?.type ?? 'text', row.values.get(name)))),
      ),
    ];
    // One after the other, in the order of the keys: two messages never wait for each other's rows.
    // oxlint-disable-next-line no-await-in-loop
    await session.rows(upsertText(place, columns, used), values);
  }
}

/** The source of each fixed column; `r` are the rows of the message. */
const sources: Readonly<Record<string, string>> = {
  installation_id: '$1::text',
  record_id: 'r.id',
  _svc_version: 'r.version',
  _svc_seq: '$2::text',
  _svc_deleted: 'r.deleted',
  _svc_group_ref: '$3::text',
  _svc_synced_at: 'now()',
  fields: 'r.fields',
  associations: 'r.associations',
  raw: 'r.raw',
};
const firstArray = 4;
const arrays = ['id', 'version', 'deleted', 'fields', 'associations', 'raw'];

function setText(column: string, value: string): string {
  const name = escapeIdentifier(column);
  if (Object.hasOwn(fixedColumns, column) && column.startsWith('_svc_')) return `${name} = ${value}`;
  return `${name} = CASE WHEN excluded._svc_deleted THEN coalesce(${value}, d.${name}) ELSE ${value} END`;
}

function upsertText({ schema, table }: TablePlace, columns: Columns, used: readonly string[]): string {
  const names = [...arrays, ...used.map((_name, at) => `c${at}`)];
  const all = [...Object.entries(sources), ...used.map((name, at): [string, string] => [name, `r.c${at}`])];
  // What the record no longer has is emptied in the columns that are ours; a deletion tells little, and empties nothing.
  const emptied = [...columns.values()].filter(({ name, isOurs }) => isOurs && !used.includes(name));
  const isKey = (name: string): boolean => keyColumns.includes(name);
  const set = [
    ...all
      .filter(([name]) => !isKey(name))
      .map(([name]) => setText(name, `excluded.${escapeIdentifier(name)}`)),
    ...emptied.map(({ name }) => setText(name, 'NULL')),
  ];
  const cast = ([name, source]: [string, string]): string =>
    `${source}::${columns.get(name)?.cast ?? 'text'}`;
  return `INSERT INTO ${qualified(schema, table)} AS d (${all.map(([name]) => escapeIdentifier(name)).join(', ')})
    SELECT ${all.map(cast).join(', ')}
    FROM unnest(${names.map((_name, at) => `$${firstArray + at}::text[]`).join(', ')}) AS r(${names.join(', ')})
    ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${set.join(', ')}
    WHERE (d._svc_version COLLATE "C", d._svc_seq) < (excluded._svc_version COLLATE "C", excluded._svc_seq)`;
}

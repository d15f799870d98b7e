import { isDeepStrictEqual } from 'node:util';
import { Type, type TSchema } from 'typebox';
import { compileCheck } from '../http/validation.ts';
import type { Issue } from '../problem.ts';
import type { Vault } from '../vault.ts';
import type { Queryable } from './database.ts';
import { statement, type Statement } from './statement.ts';
import { unkeptFaults } from './unkept.ts';

/** A row that leaves one database for another: its columns as the text of a JSON object, and what is sealed in it, opened. */
export interface PortableRow {
  row: string;
  secret?: unknown;
}

/** A row that cannot come in: its name, and what is there already. */
export interface Clash {
  kind: string;
  name: string;
  reason: string;
}

/** What became of rows that came in. */
export interface Written {
  created: Named[];
  /** In place of what was there and gives way. */
  replaced: number;
  /** Those of the replaced that are named, by their names here. */
  over: string[];
  /** Of those that were there and were left alone: what the file has otherwise. */
  differing: Differing[];
}

interface Named {
  id: string;
  /** What it is called here. */
  name: string;
}

export interface Differing {
  name: string;
  /** In the words of the declaration, where that says it. */
  how?: string;
  /** Whether what is sealed in it is another. */
  hasOtherSecret: boolean;
}

export type RowFault = Pick<Issue, 'name' | 'detail' | 'value'>;

/** Rows of a project that can be taken to another one, of this database or of another. Ids stay as they are. */
export interface Portable {
  kind: string;
  /** The columns of its key, without the project. */
  key: readonly string[];
  /** At most so many. */
  read(db: Queryable, from: { projectId: string; limit: number }, vault: Vault): Promise<PortableRow[]>;
  /** What of a row from a file is not as a row of this kind is: told by its path in the row. Pure. */
  faults(row: PortableRow): RowFault[];
  /** What is there already under a name or a place that only one may have. */
  clashes(tx: Queryable, projectId: string, rows: readonly PortableRow[]): Promise<Clash[]>;
  /** Leaves rows alone that are there and do not give way. */
  write(tx: Queryable, projectId: string, rows: readonly PortableRow[], vault: Vault): Promise<Written>;
  /** What is there with none of the keys, by name; of kinds that belong to others nothing. */
  missing(tx: Queryable, projectId: string, keys: readonly string[]): Promise<string[]>;
}

/** What only one row of a project may have, beside its key. */
interface Only {
  /** The table of the row that is there, where that is another. */
  of?: string;
  /** SQL over a row `r` that comes in and a row `o` that is there: they cannot stand beside one another. */
  same: string;
  /** What a row is called in a clash: SQL over `r`. */
  name: string;
  /** Held against the rows of every project. */
  everywhere?: true;
  reason: string;
}

export interface PortableDeclaration {
  kind: string;
  table: string;
  /** Without the project. The last one is what its sealed column is bound to. */
  key: Readonly<Record<string, TSchema>>;
  /** Beside the key. */
  columns: Readonly<Record<string, Column>>;
  /** SQL over the row `t`, where not all of them leave. */
  where?: string;
  /** Columns that stay behind, each with the reason. */
  left?: Readonly<Record<string, string>>;
  /** What a row gets beside its columns when it comes in, also in place of another: SQL for each of these. */
  given?: Readonly<Record<string, string>>;
  sealed?: { column: string; place: (projectId: string, id: string) => string; shape: TSchema };
  only?: readonly Only[];
  /** Those that are there stay until what names them is there, too; with SHARE as they are. */
  held?: 'KEY SHARE' | 'SHARE';
  /** What a row that is there is called: SQL over the row `t`. */
  called?: string;
  /** Which rows that are there give way to one of the same key. */
  givesWay?: GivesWay;
  /**
   * Which rows the file has otherwise, of those that are left alone: SQL over the row `t` that is there and the row `r` that comes
   * in; any column but its times, if it is not said. With `how` those alone of which what is sealed is another.
   */
  differs?: { where: string; how?: string };
  /** What the shapes cannot say, of a row that has them. */
  rules?: RowRules;
}

interface GivesWay {
  /** SQL over the row `t` that is there and the row `r` that comes in. */
  where: string;
  /** Of which of them the names are told: SQL over the row `t`. */
  named?: string;
  /** What it gets of `r`; all, if it is not said. */
  columns?: readonly string[];
  /** What else it gets, or in place of that. */
  also?: Readonly<Record<string, string>>;
}

/** What the column may hold: as it is, or by SQL over the row `t` that leaves and the row `r` that comes in. */
type Column = TSchema | { shape: TSchema; as?: string; into?: string };

// oxlint-disable-next-line typescript/no-explicit-any -- a row that was checked against the shapes of its declaration.
export type RowRules = (row: any, secret: any) => RowFault[];

/** Every declaration made so far, for the test that follows the columns of their tables. */
export const portableDeclarations: PortableDeclaration[] = [];

export function portable(declared: PortableDeclaration): Portable {
  portableDeclarations.push(declared);
  const { kind, sealed } = declared;
  const read = readText(declared);
  const write = writeText(declared);
  const hold = declared.held && holdText(declared, declared.held);
  const over = overText(declared);
  const replace = replaceText(declared);
  const differ = differText(declared);
  const miss = missText(declared);
  const finds = (declared.only ?? []).map((only, at) => ({ only, text: clashText(declared, only, at) }));
  return {
    kind,
    key: Object.keys(declared.key),
    faults: rowFaults(shapesOf(declared), sealed?.shape, declared.rules),
    async read(db, { projectId, limit }, vault) {
      const rows = await db.rows<{ row: string; id: string; sealed?: Buffer }>(read, [projectId, limit]);
      return rows.map(({ row, id, sealed: value }) =>
        sealed && value ? { row, secret: vault.open(value, sealed.place(projectId, id)) } : { row },
      );
    },
    async clashes(tx, projectId, rows) {
      const found: Clash[] = [];
      const all = arrayOf(rows.map(({ row }) => row));
      for (const { only, text } of finds)
        for (const { name } of await tx.rows<{ name: string }>(text, [projectId, all]))
          found.push({ kind, name, reason: only.reason });
      return found;
    },
    async write(tx, projectId, rows, vault) {
      const texts = rows.map(({ row, secret }) => {
        if (!sealed) return row;
        const id = (JSON.parse(row) as Record<string, string>)[lastKey(declared)] ?? '';
        const value = vault.seal(secret, sealed.place(projectId, id)).toString('hex');
        return `${row.slice(0, -1)},"${sealed.column}":"\\\\x${value}"}`;
      });
      const values = [projectId, arrayOf(texts)];
      if (hold) await tx.rows(hold, values);
      const named = over ? await tx.rows<{ name: string }>(over, values) : [];
      const replaced = replace ? (await tx.rows(replace, values)).length : 0;
      const open = (value: Buffer, id: string): unknown => {
        try {
          return vault.open(value, sealed?.place(projectId, id) ?? '');
        } catch {
          // Under a key that is lost, it is another than the one of the file.
          return undefined;
        }
      };
      const differing = (await tx.rows<DifferRow>(differ, values)).flatMap((row) => differingOf(row, open));
      const created = await tx.rows<Named>(write, values);
      return { created, replaced, over: named.map(({ name }) => name), differing };
    },
    async missing(tx, projectId, keys) {
      if (!miss) return [];
      return (await tx.rows<{ name: string }>(miss, [projectId, keys])).map(({ name }) => name);
    },
  };
}

/** The check of a row and of what is sealed in it. */
export function rowFaults(
  shapes: Readonly<Record<string, TSchema>>,
  secretShape?: TSchema,
  rules: RowRules = () => [],
): Portable['faults'] {
  const checkRow = compileCheck(Type.Object(shapes, { additionalProperties: false }));
  const checkSecret = compileCheck(secretShape ?? { not: {} });
  return ({ row, secret }) => {
    const value = JSON.parse(row) as unknown;
    const unkept = unkeptFaults(value);
    if (unkept.length > 0) return unkept;
    const found = checkRow(value, 'body').issues.map(({ in: _in, ...fault }) => fault);
    const isSecretRight =
      secretShape === undefined ? secret === undefined : checkSecret(secret, 'body').issues.length === 0;
    // Nothing of a secret is told but that it is not right.
    if (!isSecretRight) found.push({ name: 'secret', detail: 'is not what is sealed in such a row' });
    return found.length > 0 ? found : rules(value, secret);
  };
}

function shapesOf({ key, columns }: PortableDeclaration): Record<string, TSchema> {
  const shapes = Object.entries(columns).map(([name, column]) => [name, partsOf(column).shape]);
  return { ...key, ...(Object.fromEntries(shapes) as Record<string, TSchema>) };
}

function partsOf(column: Column): { shape: TSchema; as?: string; into?: string } {
  return 'shape' in column ? column : { shape: column };
}

function lastKey({ key }: PortableDeclaration): string {
  return Object.keys(key).at(-1) ?? '';
}

function arrayOf(rows: readonly string[]): string {
  return `[${rows.join(',')}]`;
}

/** The columns that a row has outside. */
export function carriedColumns({ key, columns }: PortableDeclaration): string[] {
  return [...Object.keys(key), ...Object.keys(columns)];
}

function readText(declared: PortableDeclaration): Statement {
  const { kind, table, key, columns, sealed, where = 'true' } = declared;
  const carried = [
    ...Object.keys(key).map((name) => `t.${name}`),
    ...Object.entries(columns).map(([name, column]) => `${partsOf(column).as ?? `t.${name}`} AS ${name}`),
  ];
  const order = Object.keys(key).map((column) => `t.${column}`);
  const secret = sealed ? `, t.${sealed.column} AS sealed` : '';
  return statement(
    `portable_read_${kind}`,
    `SELECT row_to_json(r)::text AS row, t.${lastKey(declared)}::text AS id${secret}
     FROM ${table} t CROSS JOIN LATERAL (SELECT ${carried.join(', ')}) r
     WHERE t.project_id = $1 AND ${where} ORDER BY ${order.join(', ')} LIMIT $2`,
  );
}

/** SQL: what of the row `r` comes into a column. */
function intoOf({ columns }: PortableDeclaration, name: string): string {
  const column = columns[name];
  return (column && partsOf(column).into) ?? `r.${name}`;
}

function storedColumns(declared: PortableDeclaration): string[] {
  return [...carriedColumns(declared), ...(declared.sealed ? [declared.sealed.column] : [])];
}

function writeText(declared: PortableDeclaration): Statement {
  const { kind, table, key, called, given = {} } = declared;
  const names = [...storedColumns(declared), ...Object.keys(given)];
  return statement(
    `portable_write_${kind}`,
    `INSERT INTO ${table} AS t (project_id, ${names.join(', ')})
     SELECT $1, ${names.map((name) => given[name] ?? intoOf(declared, name)).join(', ')} FROM json_populate_recordset(NULL::${table}, $2::json) r
     ON CONFLICT (project_id, ${Object.keys(key).join(', ')}) DO NOTHING
     RETURNING t.${lastKey(declared)}::text AS id, ${called ?? nameByKey(key)} AS name`,
  );
}

/** One that is being deleted is waited for, and comes in anew. */
function holdText(declared: PortableDeclaration, strength: string): Statement {
  const { kind, table, key } = declared;
  const order = Object.keys(key).map((column) => `t.${column}`);
  return statement(
    `portable_hold_${kind}`,
    `SELECT FROM json_populate_recordset(NULL::${table}, $2::json) r
     JOIN ${table} t ON ${isSame(declared)} ORDER BY ${order.join(', ')} FOR ${strength} OF t`,
  );
}

/** Held until they are replaced, so that they are what is named. */
function overText(declared: PortableDeclaration): Statement | undefined {
  const { kind, table, key, called, givesWay } = declared;
  if (givesWay?.named === undefined) return undefined;
  return statement(
    `portable_over_${kind}`,
    `SELECT ${called ?? nameByKey(key)} AS name FROM json_populate_recordset(NULL::${table}, $2::json) r
     JOIN ${table} t ON ${isSame(declared)} WHERE ${givesWay.where} AND ${givesWay.named} ORDER BY 1 FOR UPDATE OF t`,
  );
}

function replaceText(declared: PortableDeclaration): Statement | undefined {
  const { kind, table, key, givesWay, given = {} } = declared;
  if (!givesWay) return undefined;
  const { where, also = {}, columns = storedColumns(declared) } = givesWay;
  const others = { ...given, ...also };
  const taken = columns.filter((name) => !(name in key || name in others));
  const set = [
    ...taken.map((name) => `${name} = ${intoOf(declared, name)}`),
    ...Object.entries(others).map(([name, value]) => `${name} = ${value}`),
  ];
  return statement(
    `portable_replace_${kind}`,
    `UPDATE ${table} t SET ${set.join(', ')} FROM json_populate_recordset(NULL::${table}, $2::json) r
     WHERE ${isSame(declared)} AND ${where} RETURNING 1 AS one`,
  );
}

function isSame({ key }: PortableDeclaration): string {
  return ['t.project_id = $1', ...Object.keys(key).map((name) => `t.${name} = r.${name}`)].join(' AND ');
}

/** Where the time of its row does not rule it out, what is sealed is read, too: it is sealed anew, and never the same bytes. */
function differText(declared: PortableDeclaration): Statement {
  const { kind, table, key, columns, sealed, called } = declared;
  const names = carriedColumns(declared).filter((name) => name !== 'created_at' && name !== 'updated_at');
  const kept = names.map((name) => `${intoOf(declared, name)} AS ${name}`).join(', ');
  const here = names.map((name) => {
    const column = columns[name];
    return `${(column && partsOf(column).as) ?? `t.${name}`} AS ${name}`;
  });
  const compared = `to_jsonb((SELECT k FROM (SELECT ${kept}) k)) IS DISTINCT FROM
       (SELECT to_jsonb(k) FROM (SELECT ${kept} FROM (SELECT ${here.join(', ')}) r) k)`;
  const { where = compared, how } = declared.differs ?? {};
  const secrets = sealed ? `, r.${sealed.column} AS came, t.${sealed.column} AS held` : '';
  return statement(
    `portable_differ_${kind}`,
    `SELECT ${called ?? nameByKey(key)} AS name, t.${lastKey(declared)}::text AS id, ${how ?? 'NULL'} AS how,
       ${how === undefined ? where : 'false'} AS is_other${secrets}
     FROM json_populate_recordset(NULL::${table}, $2::json) r JOIN ${table} t ON ${isSame(declared)}
     WHERE ${where}${sealed && how === undefined ? ' OR r.updated_at > t.updated_at' : ''} ORDER BY 1`,
  );
}

interface DifferRow {
  name: string;
  id: string;
  how: string | null;
  is_other: boolean;
  came?: Buffer;
  held?: Buffer;
}

function differingOf(
  { name, id, how, is_other: isOther, came, held }: DifferRow,
  open: (value: Buffer, id: string) => unknown,
): Differing[] {
  const hasOtherSecret = came && held ? !isDeepStrictEqual(open(came, id), open(held, id)) : false;
  return isOther || hasOtherSecret ? [{ name, hasOtherSecret, ...(how === null ? {} : { how }) }] : [];
}

/** SQL: what a row `t` is called that has no better name. */
function nameByKey(key: PortableDeclaration['key']): string {
  const keyed = Object.keys(key).map((name) => `t.${name}::text`);
  return `concat_ws(' ', ${keyed.join(', ')})`;
}

function missText({ kind, table, key, called, where = 'true' }: PortableDeclaration): Statement | undefined {
  if (called === undefined) return undefined;
  return statement(
    `portable_miss_${kind}`,
    `SELECT ${called} AS name FROM ${table} t WHERE t.project_id = $1 AND ${where}
       AND NOT EXISTS (SELECT FROM unnest($2::text[]) k WHERE k = ${nameByKey(key)}) ORDER BY 1`,
  );
}

function clashText({ kind, table, key }: PortableDeclaration, only: Only, at: number): Statement {
  const { of, same, name, everywhere } = only;
  const columnsOf = (row: string): string =>
    Object.keys(key)
      .map((column) => `${row}.${column}`)
      .join(', ');
  const other = of
    ? 'true'
    : `(o.project_id, ${columnsOf('o')}) IS DISTINCT FROM ($1::uuid, ${columnsOf('r')})`;
  return statement(
    `portable_clash_${kind}_${at}`,
    `SELECT ${name} AS name FROM json_populate_recordset(NULL::${table}, $2::json) r
     JOIN ${of ?? table} o ON ${everywhere ? '$1::uuid IS NOT NULL' : 'o.project_id = $1'} AND ${same}
     WHERE ${other} LIMIT 20`,
  );
}

import { sqlState } from '../../kit/db/faults.ts';
import { planOf, textFor, type Columns } from './columns.ts';
import { TableRefused } from './failure.ts';
import { fixedColumns, keyColumns } from './frame.ts';
import type { Row, Rows } from './rows.ts';
import type { Session } from './session.ts';
import {
  beginOn,
  change,
  commit,
  rollBack,
  rowsPerStatement,
  upsert,
  type Common,
  type Found,
  type TablePlace,
} from './store.ts';

/** Somebody else may change the table in between, but not for ever. */
const mostChanges = 5;
const none: Columns = new Map();

/** Keeps the rows of a message in one transaction; makes and widens the table before where it must. */
export async function keepRows(
  session: Session,
  place: TablePlace,
  common: Common,
  { rows, fieldOf }: Rows,
): Promise<void> {
  for (let changes = 0; changes < mostChanges; changes += 1) {
    const found = await beginOn(session, place, 'shared');
    refuse(place, found, fieldOf.keys());
    if (found && !planOf(found.columns, rows, fieldOf.keys())) {
      await upsertNamed(session, place, found.columns, common, rows);
      return commit(session);
    }
    await rollBack(session);
    await makeRoom(session, place, rows, fieldOf);
  }
  throw new TableRefused(
    `The table ${nameOf(place)} is changed by somebody else again and again: end what changes it`,
  );
}

async function makeRoom(
  session: Session,
  place: TablePlace,
  rows: readonly Row[],
  fieldOf: Rows['fieldOf'],
): Promise<void> {
  const found = await beginOn(session, place, 'alone');
  refuse(place, found, fieldOf.keys());
  const plan = planOf(found?.columns ?? none, rows, fieldOf.keys());
  if (plan) await change(session, place, plan, !found, fieldOf);
  await commit(session);
}

function refuse(place: TablePlace, found: Found | undefined, used: Iterable<string>): void {
  if (!found) return;
  const another = 'rename it, or choose another metadata.tablePrefix';
  if (!/^[rp]$/.test(found.kind)) {
    throw new TableRefused(`${nameOf(place)} is there and no table: ${another}`);
  }
  const cutting = [...Object.keys(fixedColumns), ...used]
    .map((name) => found.columns.get(name))
    .find((column) => column?.cuts);
  if (cutting)
    throw new TableRefused(
      `The column ${JSON.stringify(cutting.name)} of the table ${nameOf(place)} has the type ${cutting.type}, which cuts what is too long for it: change it to text`,
    );
  const missing = keyColumns.find((name) => !found.columns.has(name));
  if (missing === undefined) return;
  throw new TableRefused(
    `The table ${nameOf(place)} is there and has no column ${JSON.stringify(missing)}: ${another}`,
  );
}

/** PostgreSQL does not tell which column has no room for a value: each one of the customer's is then tried alone. */
async function upsertNamed(
  session: Session,
  place: TablePlace,
  columns: Columns,
  common: Common,
  rows: readonly Row[],
): Promise<void> {
  try {
    await upsert(session, place, columns, common, rows);
  } catch (error) {
    if (!isOfValue(error)) throw error;
    await rollBack(session);
    throw (await culprit(session, place, columns, common, rows)) ?? error;
  }
}

function isOfValue(error: unknown): boolean {
  return /^(22...|42804|42846|428C9|21000)$/.test(sqlState(error) ?? '');
}

async function culprit(
  session: Session,
  place: TablePlace,
  columns: Columns,
  common: Common,
  rows: readonly Row[],
): Promise<TableRefused | undefined> {
  const bare = rows.slice(0, rowsPerStatement).map(withNone);
  const ofFixed = await refusalOf(session, place, columns, common, bare);
  if (ofFixed !== undefined) {
    const fixed = Object.entries(fixedColumns).map(([name, type]) => `${name} ${type}`);
    return new TableRefused(
      `A record has no room in the table ${nameOf(place)} (${ofFixed}): give it the columns ${fixed.join(', ')}, or name another metadata.tablePrefix`,
    );
  }
  for (const { name, type, isOurs } of columns.values()) {
    const given = rows.filter(({ values }) => textFor(type, values.get(name)) !== null);
    if (isOurs || given.length === 0) continue;
    const alone = given.slice(0, rowsPerStatement).map((row) => withOnly(row, name));
    const refusal = await refusalOf(session, place, columns, common, alone);
    if (refusal !== undefined) {
      return new TableRefused(
        `A value has no room in the table ${nameOf(place)}, column ${JSON.stringify(name)} of the type ${type} (${refusal}): change the type of the column to text, or map the field to another name`,
      );
    }
  }
  return undefined;
}

function withNone(row: Row): Row {
  return { ...row, values: new Map() };
}

function withOnly(row: Row, column: string): Row {
  return { ...row, values: new Map([[column, row.values.get(column)]]) };
}

async function refusalOf(
  session: Session,
  place: TablePlace,
  columns: Columns,
  common: Common,
  rows: readonly Row[],
): Promise<string | undefined> {
  await beginOn(session, place, 'shared');
  try {
    await upsert(session, place, columns, common, rows);
    return undefined;
  } catch (error) {
    if (!isOfValue(error)) throw error;
    return (error as Error).message;
  } finally {
    await rollBack(session);
  }
}

function nameOf({ schema, table }: TablePlace): string {
  return JSON.stringify(`${schema}.${table}`);
}

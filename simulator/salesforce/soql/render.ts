import type { Field } from '../schema/fields.ts';
import type { SObject } from '../schema/object-types.ts';
import type { Row, Store } from '../store/store.ts';
import type { Column, Plan } from './compiled.ts';
import { parentOf, valueOf } from './paths.ts';
import { runPlan } from './plan.ts';

type RecordJson = Record<string, unknown>;

/** Renders a list of children: the first page, with a way to the next. */
type RenderList = (plan: Plan, rows: Row[]) => unknown;

/** `base` is the versioned path that record URLs begin with. */
export type RenderContext = { store: Store; base: string; list: RenderList };

export function attributes(object: SObject, id: unknown, base: string): RecordJson {
  return { type: object.name, url: `${base}/sobjects/${object.name}/${String(id)}` };
}

/** One record as a query answers it; every selected column is there, null when empty. */
export function renderRow(context: RenderContext, object: SObject, columns: Column[], row: Row): RecordJson {
  const out: RecordJson = { attributes: attributes(object, row['Id'], context.base) };
  for (const column of columns) {
    if (column.kind === 'computed') out[column.name] = column.read(row);
    else if (column.kind === 'typeof') out[column.name] = renderTypeOf(context, column, row);
    else if (column.kind === 'value') out[column.field.name] = fieldValue(row, column.field);
    else if (column.kind === 'parent') out[column.name] = renderParent(context, column, row);
    else out[column.name] = renderChildren(context, column.plan, row);
  }
  return out;
}

function renderParent(
  context: RenderContext,
  column: Extract<Column, { kind: 'parent' }>,
  row: Row,
): unknown {
  const parent = parentOf(context.store, row, column.field);
  if (!parent) return null;
  const out = renderRow(context, parent.object, column.columns, parent.row);
  if (column.field.referenceTo.length > 1 && out['Type'] === null) out['Type'] = parent.object.name;
  return out;
}

/** A parent whose type no WHEN names, and for which there is no ELSE, is null. */
function renderTypeOf(
  context: RenderContext,
  column: Extract<Column, { kind: 'typeof' }>,
  row: Row,
): unknown {
  const parent = parentOf(context.store, row, column.field);
  const columns = parent ? column.byType.get(parent.object.name) : undefined;
  return parent && columns ? renderRow(context, parent.object, columns, parent.row) : null;
}

/** One group as a query answers it: no record, so it has no address. */
export function renderGroup(columns: Column[], row: Row): RecordJson {
  const out: RecordJson = { attributes: { type: 'AggregateResult' } };
  for (const column of columns) if (column.kind === 'computed') out[column.name] = column.read(row);
  return out;
}

function renderChildren(context: RenderContext, plan: Plan, row: Row): unknown {
  const rows = runPlan(plan, String(row['Id']));
  return rows.length === 0 ? null : context.list(plan, rows);
}

/** A value for JSON; a compound address is put together from its parts. */
export function fieldValue(row: Row, f: Field): unknown {
  return f.type === 'address' ? addressOf(row, f.name.replace(/Address$/, '')) : valueOf(row, f);
}

const addressParts = [
  'city',
  'country',
  'geocodeAccuracy',
  'latitude',
  'longitude',
  'postalCode',
  'state',
  'street',
] as const;

function addressOf(row: Row, prefix: string): RecordJson | null {
  const out: RecordJson = {};
  let any = false;
  for (const part of addressParts) {
    const value = row[prefix + part.charAt(0).toUpperCase() + part.slice(1)] ?? null;
    if (value !== null) any = true;
    out[part] = value;
  }
  return any ? out : null;
}

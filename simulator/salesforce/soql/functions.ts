import { readOnlyField, type Field } from '../schema/fields.ts';
import { findObject } from '../schema/object-types.ts';
import { scan, type Row, type Store, type Value } from '../store/store.ts';
import { parseDatetime } from '../store/times.ts';
import type { Expression, FunctionCall } from './ast.ts';
import { resolvePath, type Resolved, type Scope } from './paths.ts';
import { badField, malformed } from './problems.ts';

/** Turns an expression into a way to read it from a row. */
export type Resolve = (scope: Scope, expression: Expression) => Resolved;

export const aggregates = new Set(['COUNT', 'COUNT_DISTINCT', 'SUM', 'AVG', 'MIN', 'MAX']);

/** A path, or a function of the values of one row. */
export function resolveExpression(scope: Scope, expression: Expression): Resolved {
  if (expression.kind === 'path') return resolvePath(scope, expression.path);
  const { call } = expression;
  if (aggregates.has(call.name))
    throw malformed(scope.soql, call.pos, `aggregate function ${call.name} is not allowed here`);
  const inner = resolveExpression(scope, call.arg);
  const part = dateParts[call.name];
  if (part) return datePart(scope, call, inner, part);
  if (call.name === 'CONVERTTIMEZONE') return ofTime(scope, call, inner);
  if (call.name === 'TOLABEL') return labelled(scope, call, inner);
  if (call.name === 'FORMAT') return { ...inner, get: formatter(inner) };
  throw malformed(scope.soql, call.pos, `unknown function: ${call.name}`);
}

/** The org's users live in one zone, and it is UTC, so a time needs no conversion. */
function ofTime(scope: Scope, call: FunctionCall, inner: Resolved): Resolved {
  if (inner.field.type === 'datetime') return inner;
  throw badField(scope.soql, call.pos, `field '${inner.field.name}' is not a dateTime`);
}

type DatePart = (date: Date, fiscal: Fiscal) => number | string;

const day = 86_400_000;
const startOfYear = (date: Date): number => Date.UTC(date.getUTCFullYear(), 0, 1);
const dayInYear = (date: Date): number => Math.floor((date.getTime() - startOfYear(date)) / day) + 1;

/** Months of the fiscal year, the first being 0. */
const fiscalIndex = (date: Date, { month }: Fiscal): number => (date.getUTCMonth() + 13 - month) % 12;

const dateParts: Record<string, DatePart> = {
  CALENDAR_YEAR: (date) => date.getUTCFullYear(),
  CALENDAR_QUARTER: (date) => Math.floor(date.getUTCMonth() / 3) + 1,
  CALENDAR_MONTH: (date) => date.getUTCMonth() + 1,
  DAY_IN_MONTH: (date) => date.getUTCDate(),
  DAY_IN_WEEK: (date) => date.getUTCDay() + 1,
  DAY_IN_YEAR: dayInYear,
  DAY_ONLY: (date) => date.toISOString().slice(0, 10),
  FISCAL_YEAR: fiscalYear,
  FISCAL_QUARTER: (date, fiscal) => Math.floor(fiscalIndex(date, fiscal) / 3) + 1,
  FISCAL_MONTH: (date, fiscal) => fiscalIndex(date, fiscal) + 1,
  HOUR_IN_DAY: (date) => date.getUTCHours(),
  WEEK_IN_MONTH: (date) => Math.ceil(date.getUTCDate() / 7),
  WEEK_IN_YEAR: (date) => Math.ceil(dayInYear(date) / 7),
};

/** A year is called after the calendar year in which it ends, unless the org says otherwise. */
function fiscalYear(date: Date, fiscal: Fiscal): number {
  const begun = date.getUTCFullYear() - (date.getUTCMonth() + 1 < fiscal.month ? 1 : 0);
  return begun + (fiscal.month > 1 && !fiscal.namedByStart ? 1 : 0);
}

function datePart(scope: Scope, call: FunctionCall, inner: Resolved, part: DatePart): Resolved {
  const { field, get, parents } = inner;
  const timed = call.name === 'DAY_ONLY' || call.name === 'HOUR_IN_DAY';
  if (field.type !== 'datetime' && (timed || field.type !== 'date'))
    throw badField(scope.soql, call.pos, `field '${field.name}' can not be used with ${call.name}`);
  const fiscal = fiscalOf(scope.store);
  const read = (row: Row): Value => {
    const value = get(row);
    const ms = typeof value === 'string' ? timeOf(value) : undefined;
    return ms === undefined ? null : part(new Date(ms), fiscal);
  };
  return { parents, field: readOnlyField(field.name, call.name === 'DAY_ONLY' ? 'date' : 'int'), get: read };
}

function timeOf(value: string): number | undefined {
  return parseDatetime(value) ?? parseDatetime(`${value}T00:00:00Z`);
}

function labelled(scope: Scope, call: FunctionCall, inner: Resolved): Resolved {
  const { field, get } = inner;
  const translated = ['picklist', 'multipicklist', 'combobox'].includes(field.type) || field.nameField;
  if (!translated) throw badField(scope.soql, call.pos, `field '${field.name}' does not support toLabel`);
  const read = (row: Row): Value => {
    const value = get(row);
    if (typeof value !== 'string') return value;
    return value
      .split(';')
      .map((one) => field.labels[one] ?? one)
      .join(';');
  };
  return { ...inner, get: read };
}

const locale = 'en-GB';
const currency = 'GBP';

/** Numbers, dates and times as the user's locale writes them. */
export function formatter({ field, get }: Pick<Resolved, 'field' | 'get'>): (row: Row) => Value {
  return (row) => {
    const value = get(row);
    return value === null ? null : formatted(field, value);
  };
}

function formatted(field: Field, value: Value): Value {
  if (typeof value === 'number') {
    const digits = field.type === 'int' ? 0 : Math.min(field.scale, 15);
    const style = field.type === 'currency' ? ({ style: 'currency', currency } as const) : {};
    const text = new Intl.NumberFormat(locale, {
      ...style,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value);
    return field.type === 'percent' ? `${text}%` : text;
  }
  const ms = field.type === 'date' || field.type === 'datetime' ? timeOf(String(value)) : undefined;
  if (ms === undefined) return value;
  const time = field.type === 'datetime' ? ({ timeStyle: 'short' } as const) : {};
  return new Intl.DateTimeFormat(locale, { dateStyle: 'short', ...time, timeZone: 'UTC' }).format(ms);
}

/** When the org's fiscal year begins. */
type Fiscal = { month: number; namedByStart: boolean };

/** What the org's own row says of its fiscal year. */
export function fiscalOf(store: Store): Fiscal {
  const organization = findObject(store.schema, 'Organization');
  const [row] = organization ? scan(store, organization, false, 0) : [];
  return {
    month: Number(row?.['FiscalYearStartMonth'] ?? 1),
    namedByStart: row?.['UsesStartDateAsFiscalYearName'] === true,
  };
}

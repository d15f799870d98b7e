import { isObject } from '../kit/index.ts';
import { invalid, isRefusal } from './errors.ts';
import type { Refusal } from './errors.ts';
import type { Hub } from './hub.ts';
import type { ObjectType, Property, Row } from './types.ts';
import { timeOf } from './values.ts';
import { textOf } from './write.ts';

export type Test = (row: Row) => boolean;

const OPERATORS = [
  'EQ',
  'NEQ',
  'LT',
  'LTE',
  'GT',
  'GTE',
  'BETWEEN',
  'IN',
  'NOT_IN',
  'HAS_PROPERTY',
  'NOT_HAS_PROPERTY',
  'CONTAINS_TOKEN',
  'NOT_CONTAINS_TOKEN',
];
const MAX_GROUPS = 5;
const MAX_FILTERS = 6;
const MAX_ALL_FILTERS = 18;

/** Groups are joined by OR, the filters of a group by AND. */
export function compileGroups(hub: Hub, type: ObjectType, given: unknown): Test | Refusal {
  const groups: unknown[] = Array.isArray(given) ? given : [];
  if (groups.length > MAX_GROUPS) return invalid(`The maximum number of filterGroups is ${MAX_GROUPS}`);
  const tests: Test[] = [];
  let count = 0;
  for (const group of groups) {
    const filters: unknown[] = isObject(group) && Array.isArray(group['filters']) ? group['filters'] : [];
    if (filters.length > MAX_FILTERS)
      return invalid(`The maximum number of filters in a group is ${MAX_FILTERS}`);
    count += filters.length;
    const compiled: Test[] = [];
    for (const filter of filters) {
      const test = compileFilter(hub, type, filter);
      if (isRefusal(test)) return test;
      compiled.push(test);
    }
    tests.push((row) => compiled.every((test) => test(row)));
  }
  if (count > MAX_ALL_FILTERS) return invalid(`The maximum number of filters is ${MAX_ALL_FILTERS}`);
  return tests.length === 0 ? () => true : (row) => tests.some((test) => test(row));
}

type Filter = { name: string; operator: string; value: string; high: string; values: string[] };

function compileFilter(hub: Hub, type: ObjectType, given: unknown): Test | Refusal {
  if (!isObject(given)) return invalid('a filter must be an object');
  const filter: Filter = {
    name: textOf(given['propertyName']) ?? '',
    operator: textOf(given['operator']) ?? '',
    value: textOf(given['value']) ?? '',
    high: textOf(given['highValue']) ?? '',
    values: Array.isArray(given['values']) ? given['values'].map(String) : [],
  };
  if (!OPERATORS.includes(filter.operator))
    return invalid(
      `Cannot deserialize value of type \`Operator\` from String "${filter.operator}": not one of the values accepted: [${OPERATORS.join(', ')}]`,
    );
  if (filter.name.startsWith('associations.')) return associationTest(hub, type, filter);
  const property = type.properties.get(filter.name);
  if (!property || property.archived)
    return invalid(`Property "${filter.name}" does not exist on ${type.plural}`);
  if (['IN', 'NOT_IN'].includes(filter.operator) && filter.values.length === 0)
    return invalid('values is required for IN and NOT_IN');
  return propertyTest(property, filter);
}

/** The pseudo property `associations.contact`, with EQ, IN and HAS_PROPERTY. */
function associationTest(hub: Hub, type: ObjectType, filter: Filter): Test | Refusal {
  const to = hub.portal.schema.find(filter.name.slice('associations.'.length));
  if (!to) return invalid(`Unable to infer object type from: ${filter.name}`);
  const { links } = hub.portal;
  const ids = filter.operator === 'EQ' ? [filter.value] : filter.values;
  if (filter.operator === 'HAS_PROPERTY') return (row) => links.of(type, row.id, to).length > 0;
  if (filter.operator === 'NOT_HAS_PROPERTY') return (row) => links.of(type, row.id, to).length === 0;
  if (!['EQ', 'IN'].includes(filter.operator))
    return invalid(`${filter.operator} is not supported for ${filter.name}`);
  return (row) => ids.some((id) => links.has(type, row.id, to, id));
}

function propertyTest(property: Property, filter: Filter): Test {
  const { name, operator } = filter;
  const of = (row: Row): string | undefined => row.indexed?.[name];
  if (operator === 'HAS_PROPERTY') return (row) => of(row) !== undefined;
  if (operator === 'NOT_HAS_PROPERTY') return (row) => of(row) === undefined;
  const test = valueTest(property, filter);
  return (row) => {
    const value = of(row);
    return value !== undefined && test(value);
  };
}

/** Records without a value match no operator but NOT_HAS_PROPERTY. */
function valueTest(property: Property, filter: Filter): (value: string) => boolean {
  const wanted = comparable(property, filter.value);
  const high = comparable(property, filter.high);
  const compare = (value: string): number => compareValues(comparable(property, value), wanted);
  // String values of IN have to be lower case to match anything.
  const set = new Set(
    property.type === 'string'
      ? filter.values
      : filter.values.map((one) => String(comparable(property, one))),
  );
  switch (filter.operator) {
    case 'EQ':
      return (value) => compare(value) === 0;
    case 'NEQ':
      return (value) => compare(value) !== 0;
    case 'LT':
      return (value) => compare(value) < 0;
    case 'LTE':
      return (value) => compare(value) <= 0;
    case 'GT':
      return (value) => compare(value) > 0;
    case 'GTE':
      return (value) => compare(value) >= 0;
    case 'BETWEEN':
      return (value) => compare(value) >= 0 && compareValues(comparable(property, value), high) <= 0;
    case 'IN':
      return (value) => set.has(String(comparable(property, value)));
    case 'NOT_IN':
      return (value) => !set.has(String(comparable(property, value)));
    case 'CONTAINS_TOKEN':
      return tokenTest(filter.value);
    default: {
      const contains = tokenTest(filter.value);
      return (value) => !contains(value);
    }
  }
}

/** A number for numbers and times, lower-case text for all else. */
export function comparable(property: Property, value: string): number | string {
  if (property.type === 'number') return Number(value);
  if (property.type === 'date' || property.type === 'datetime') return timeOf(value) ?? Number.NaN;
  return value.toLowerCase();
}

export function compareValues(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whole words, `*` standing for any letters. */
export function tokenTest(wanted: string): (value: string) => boolean {
  const source = wanted
    .toLowerCase()
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*');
  const pattern = new RegExp(`^${source}$`);
  return (value) => {
    const lower = value.toLowerCase();
    return pattern.test(lower) || lower.split(/[^\p{L}\p{N}]+/u).some((token) => pattern.test(token));
  };
}

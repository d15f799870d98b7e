import type { PropertyFault } from './errors.ts';
import { isReadOnly } from './object-types.ts';
import type { ObjectType, Property, Row } from './types.ts';

/** Allowed values of a property whose options live elsewhere (owners, pipelines); undefined: any. */
export type ExternalOptions = (type: ObjectType, property: Property) => string[] | undefined;

export type Checked = { values: Record<string, string>; faults: PropertyFault[] };

/**
 * Turns the `properties` of a write into the strings to store, with a fault for each bad one.
 * A null is left out: clearing is done with ''.
 */
export function checkValues(
  type: ObjectType,
  input: Record<string, unknown>,
  current: Row | undefined,
  external: ExternalOptions,
): Checked {
  const checked: Checked = { values: {}, faults: [] };
  for (const [given, raw] of Object.entries(input)) {
    const name = given.toLowerCase();
    const property = type.properties.get(name);
    const outcome =
      property && !property.archived
        ? checkValue(type, property, raw, current, external)
        : fault(given, 'PROPERTY_DOESNT_EXIST', `Property "${given}" does not exist`);
    if (outcome === undefined) continue;
    if (typeof outcome === 'string') checked.values[name] = outcome;
    else checked.faults.push(outcome);
  }
  return checked;
}

function checkValue(
  type: ObjectType,
  property: Property,
  raw: unknown,
  current: Row | undefined,
  external: ExternalOptions,
): string | PropertyFault | undefined {
  const { name } = property;
  if (isReadOnly(property)) {
    return fault(name, 'READ_ONLY_VALUE', `"${name}" is a read only property; its value cannot be set.`);
  }
  if (raw === null || raw === undefined) return undefined;
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'boolean') {
    return fault(name, 'INVALID_VALUE', `"${name}" must be a string, a number or a boolean`);
  }
  const value = String(raw);
  if (value === '') return '';
  if (name === 'email' && type.typeId === '0-1') return email(value);
  switch (property.type) {
    case 'number':
      return NUMBER.test(value) ? value : fault(name, 'INVALID_INTEGER', `${value} was not a valid number.`);
    case 'date':
      return dayOf(value) ?? fault(name, 'INVALID_DATE', `${value} was not a valid date.`);
    case 'datetime':
      return instantOf(value) ?? fault(name, 'INVALID_DATE', `${value} was not a valid datetime.`);
    case 'bool':
      return options(property, value, ['true', 'false']);
    case 'enumeration':
      return enumeration(property, value, current, external(type, property));
    default:
      return value;
  }
}

/** E-mail addresses are kept in lower case. */
function email(value: string): string | PropertyFault {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) return value.toLowerCase();
  return fault('email', 'INVALID_EMAIL', `Email address ${value} is invalid`);
}

function enumeration(
  property: Property,
  value: string,
  current: Row | undefined,
  external: string[] | undefined,
): string | PropertyFault {
  const allowed = property.externalOptions ? external : property.options.map((one) => one.value);
  if (property.fieldType !== 'checkbox') return allowed ? options(property, value, allowed) : value;
  const before = value.startsWith(';') ? (current?.properties[property.name] ?? '') : '';
  const all = [...new Set(`${before};${value}`.split(';').filter(Boolean))];
  const bad = all.find((one) => allowed && !allowed.includes(one));
  return bad === undefined ? all.join(';') : options(property, bad, allowed ?? []);
}

function options(property: Property, value: string, allowed: string[]): string | PropertyFault {
  if (allowed.includes(value)) return value;
  const list = allowed.join(', ');
  return fault(property.name, 'INVALID_OPTION', `${value} was not one of the allowed options: [${list}]`);
}

/** Decimal digits, a point and an exponent; no blanks, signs of grouping or other bases. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const EPOCH_MS = /^-?\d+$/;
const DAY = /^(\d{4}-\d{2}-\d{2})$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Ms since the epoch of a value that is either that or an ISO 8601 day or time with its zone. */
export function timeOf(value: string): number | undefined {
  if (EPOCH_MS.test(value)) return Number(value);
  const day = (DAY.exec(value) ?? INSTANT.exec(value))?.[1];
  // `Date.parse` takes 30 February for 2 March.
  if (day === undefined || !new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day)) return undefined;
  const ms = Date.parse(value.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  return Number.isNaN(ms) ? undefined : ms;
}

/** The day as it is kept and answered; a time has to be midnight in UTC. */
function dayOf(value: string): string | undefined {
  const ms = timeOf(value);
  return ms === undefined || ms % 86_400_000 !== 0 ? undefined : isoOf(ms).slice(0, 10);
}

/** The time as it is kept and answered. */
function instantOf(value: string): string | undefined {
  const ms = timeOf(value);
  return ms === undefined ? undefined : isoOf(ms);
}

/** ISO 8601 in UTC; whole seconds carry no fraction. */
export function isoOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function fault(name: string, code: string, message: string): PropertyFault {
  return { name, code, message };
}

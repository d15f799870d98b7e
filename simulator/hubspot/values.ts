import type { PropertyFault } from './errors.ts';
import { isReadOnly } from './object-types.ts';
import type { ObjectType, Property, Row } from './types.ts';

/** Allowed values of a property whose options live elsewhere (owners, pipelines); undefined: any. */
export type ExternalOptions = (type: ObjectType, property: Property) => string[] | undefined;

export type Checked = { values: Record<string, string>; faults: PropertyFault[] };

/**
 * Turns the `properties` of a write into the strings to store, with a fault for each bad one.
 * A null is left out: clearing is done with '' (providers H4).
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
      return Number.isFinite(Number(value)) && value.trim() !== ''
        ? value
        : fault(name, 'INVALID_INTEGER', `${value} was not a valid number.`);
    case 'date':
      return isDate(value) ? value : fault(name, 'INVALID_DATE', `${value} was not a valid date.`);
    case 'datetime':
      return timeOf(value) === undefined
        ? fault(name, 'INVALID_DATE', `${value} was not a valid datetime.`)
        : value;
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

function isDate(value: string): boolean {
  if (/^-?\d+$/.test(value)) return Number(value) % 86_400_000 === 0;
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

/** Ms since the epoch of a value that is either that or an ISO time. */
export function timeOf(value: string): number | undefined {
  const ms = /^-?\d+$/.test(value) ? Number(value) : Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

function fault(name: string, code: string, message: string): PropertyFault {
  return { name, code, message };
}

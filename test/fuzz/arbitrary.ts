import * as fc from 'fast-check';
import { resolved, type Schema } from './document.ts';

/** Values that name something that exists, by the property or parameter that takes them. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

const odd = fc.constantFrom<unknown[]>(
  '',
  ' ',
  'A b',
  '\u0000',
  'é\u0301',
  '\ud83d\ude00',
  '../..',
  "'; --",
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  {},
  [[]],
  { toString: 1 },
);
const anything = fc.oneof({ weight: 3, arbitrary: odd }, fc.jsonValue({ maxDepth: 3 }));

/** Values that fit the schema. */
export function fitting(given: Schema, known: Known, name = ''): fc.Arbitrary<unknown> {
  const schema = resolved(given);
  const own = byKind(schema, known);
  const examples = known[name];
  if (!examples || examples.length === 0) return own;
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...examples) }, { weight: 1, arbitrary: own });
}

function byKind(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => fitting(branch, known)));
  switch (schema.type ?? '') {
    case 'object':
      return objects(schema, known);
    case 'array':
      return fc.array(fitting(schema.items ?? {}, known), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
      });
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 2 ** 31 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return anything;
  }
}

function objects(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, fitting(property, known, name)]),
  );
  const requiredKeys = required.filter((name) => Object.hasOwn(properties, name));
  const named = membersOf(members, requiredKeys);
  if (typeof additionalProperties !== 'object') return named;
  const names = fc.oneof(
    fc.constantFrom(...((known['*'] ?? ['a']) as string[])),
    fc.string({ maxLength: 20 }),
  );
  const values = fitting(additionalProperties, known);
  const others = fc.dictionary(
    names.filter((key) => key !== '__proto__'),
    values,
    { maxKeys: 4 },
  );
  return fc.tuple(others, named).map(([free, fixed]) => Object.assign(free, fixed));
}

/** Objects of the members; every second one has nothing but what is required. */
export function membersOf(
  members: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: string[],
): fc.Arbitrary<Record<string, unknown>> {
  const needed = Object.fromEntries(requiredKeys.map((name) => [name, members[name] ?? anything]));
  return fc.oneof(fc.record(needed), fc.record(members, { requiredKeys }));
}

function texts({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const size = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) };
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') {
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') })
      .map((date) => date.toISOString());
  }
  if (pattern !== undefined) {
    return fc
      .stringMatching(new RegExp(pattern, 'u'), { size: 'small' })
      .filter(({ length }) => length >= minLength && length <= maxLength);
  }
  return fc.oneof(fc.string(size), fc.string({ ...size, unit: 'binary' }));
}

/** Bodies that fit the schema, or one of the examples. */
export function sound(schema: Schema, known: Known, examples: readonly unknown[]): fc.Arbitrary<unknown> {
  const own = fitting(schema, known);
  return examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), own) : own;
}

/** The same with one thing changed somewhere. */
export function broken(schema: Schema, known: Known, examples: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc
    .tuple(sound(schema, known, examples), fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), anything)
    .map(([value, path, other]) => changedAt(value, path, other));
}

/** The value with the part at the path replaced, left away, or given a further member. */
function changedAt(value: unknown, [choice = 0, ...path]: readonly number[], other: unknown): unknown {
  if (typeof value !== 'object' || value === null || path.length === 0) return other;
  const keys = Object.keys(value);
  const key = keys[choice % (keys.length + 1)];
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  if (key === undefined) copy['unexpected'] = other;
  else if (path.length === 1 && choice % 3 === 0) Reflect.deleteProperty(copy, key);
  else copy[key] = changedAt(copy[key], path, other);
  return copy;
}

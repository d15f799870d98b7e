/** From a provider's record to what is delivered. */
import { isExactNumber } from '../../kit/json.ts';
import type { EffectiveReadObject } from '../../installations/index.ts';
import { fieldLevels, fieldNamed, type ObjectDescription, type ReadRecord } from '../../providers/index.ts';

/**
 * One record of a message. `fields` by the provider's names in lower case, `mappedFields` by the builder's, `raw` as it came. What
 * the record does not have is undefined.
 */
export interface ReadEntry {
  fields: Record<string, unknown>;
  mappedFields: Record<string, unknown>;
  raw: Record<string, unknown>;
}

export interface Shape {
  /** The provider's fields that the read asks for. */
  fields: string[];
  /** Named by the config or the manifest and unknown to the provider: left out of every entry. */
  missing: string[];
  entryOf: (record: ReadRecord) => ReadEntry;
}

/** Where a delivered value comes from. */
interface Source {
  /** The provider's field, and the levels within its value. */
  from: string[];
  isMultiSelect: boolean;
  /** From the provider's value to the delivered one. */
  values: ReadonlyMap<string, string> | undefined;
}

/** What is delivered, by the levels of its names. */
type Tree = Map<string, Tree | Source>;

/** Plans once what is done with each record of an object. */
export function shapeOf(asked: EffectiveReadObject, object: ObjectDescription): Shape {
  const every = asked.all ? Object.values(object.fields).map(({ fieldName }) => fieldName) : [];
  const missing = new Set<string>();
  const read = new Set<string>();
  const valuesOf = valueMaps(asked.valueMappings);
  const plan = (tree: Tree, to: readonly string[], name: string): void => {
    const [root = name, ...levels] = fieldLevels(name);
    const field = fieldNamed(object, root);
    if (!field) {
      missing.add(name);
      return;
    }
    read.add(field.fieldName);
    const isMultiSelect = field.valueType === 'multiSelect';
    plant(tree, to, { from: [field.fieldName, ...levels], isMultiSelect, values: valuesOf(name) });
  };
  const fields: Tree = new Map<string, Tree | Source>();
  const mapped: Tree = new Map<string, Tree | Source>();
  for (const name of [...asked.fields, ...every]) plan(fields, [name.toLowerCase()], name);
  for (const [to, name] of Object.entries(asked.mappings)) plan(mapped, fieldLevels(to), name);
  const [fieldsPlan, mappedPlan] = [planOf(fields), planOf(mapped)];
  return {
    fields: [...read],
    missing: [...missing],
    entryOf: (record) => ({
      fields: gather(fieldsPlan, record.fields),
      mappedFields: gather(mappedPlan, record.fields),
      raw: record.raw,
    }),
  };
}

/** Of a name that ends where another one goes deeper, the deeper one stays. */
function plant(tree: Tree, [level = '', ...rest]: readonly string[], source: Source): void {
  const there = tree.get(level);
  const inner = there instanceof Map ? there : undefined;
  if (rest.length === 0) {
    if (!inner) tree.set(level, source);
    return;
  }
  const branch: Tree = inner ?? new Map<string, Tree | Source>();
  tree.set(level, branch);
  plant(branch, rest, source);
}

type ValueMap = ReadonlyMap<string, string>;

/** Values one to one, from the provider's to the delivered one. */
function valueMaps(mappings: EffectiveReadObject['valueMappings']): (name: string) => ValueMap | undefined {
  const maps = new Map(
    Object.entries(mappings).map(([name, values]) => [
      name.toLowerCase(),
      new Map(Object.entries(values).map(([given, provided]) => [provided, given])),
    ]),
  );
  return (name) => maps.get(name.toLowerCase());
}

/** What is written of each record, as a list. `blank` has every name already: setting a value there is far cheaper than adding one. */
interface Plan {
  blank: Record<string, undefined>;
  members: readonly (readonly [name: string, from: Source | Plan])[];
}

function planOf(tree: Tree): Plan {
  const members = [...tree].map(
    ([name, source]) => [name, source instanceof Map ? planOf(source) : source] as const,
  );
  // Unlike an assignment, this makes `__proto__` a name like any other.
  return { blank: Object.fromEntries(members.map(([name]) => [name, undefined])), members };
}

/** What the record does not have stays undefined, for the provider may have lost a field since the read began. */
function gather({ blank, members }: Plan, record: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = { ...blank };
  for (const [name, from] of members)
    out[name] = 'members' in from ? gather(from, record) : valueFrom(from, record);
  return out;
}

function valueFrom({ from, isMultiSelect, values }: Source, record: Record<string, unknown>): unknown {
  const value = valueUnder(record, from);
  return values ? delivered(value, values, isMultiSelect) : value;
}

function valueUnder(fields: Record<string, unknown>, levels: readonly string[]): unknown {
  let value: unknown = fields;
  for (const level of levels) {
    if (!isPlain(value) || !Object.hasOwn(value, level)) return undefined;
    value = value[level];
  }
  return value;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** A value without a counterpart stays as it is. The values of a multi-select stand in one text. */
function delivered(value: unknown, values: ValueMap, isMultiSelect: boolean): unknown {
  if (isMultiSelect && typeof value === 'string')
    return value
      .split(';')
      .map((one) => values.get(one) ?? one)
      .join(';');
  if (isExactNumber(value)) return values.get(value.rawJSON) ?? value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? (values.get(String(value)) ?? value)
    : value;
}

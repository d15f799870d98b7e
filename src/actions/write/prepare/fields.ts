import { Draft } from '../../../kit/draft.ts';
import { fieldLevels } from '../../../providers/index.ts';

/** The customer's choices for one object, as the field rules need them. Names compare without regard to case. */
export interface FieldRules {
  settings: Readonly<Record<string, FieldRule>>;
  /** Deprecated defaults: `applyOnUpdate: never` withholds only the default. */
  valueDefaults: Readonly<Record<string, { value: unknown; applyOnUpdate?: 'always' | 'never' }>>;
  /** Builder-side name to provider field; empty unless the write inherits the read mappings. */
  mappings: Readonly<Record<string, string>>;
  /** Builder-side names of optional mappings that the customer left unset: never sent. */
  unsetMappings: readonly string[];
  /** Where given: of the fields that no mapping names these alone are sent. */
  only?: readonly string[];
  /** The provider's field that an upsert goes by: it is sent in any case. */
  goesBy?: string;
}

export interface FieldRule {
  default?: { stringValue?: string; integerValue?: unknown; booleanValue?: boolean };
  writeOnCreate?: 'always' | 'never';
  writeOnUpdate?: 'always' | 'never' | 'ifEmpty';
}

export interface ShapedFields {
  /** In provider names, ready to send. */
  fields: Record<string, unknown>;
  /** Provider fields that are written only where the record has no value yet. */
  ifEmpty: string[];
  /** Provider fields for which the request held two values. */
  collisions: string[];
  /** Names of the request that stand for mappings for which the customer has chosen no field. */
  unmapped: string[];
  /** Names of the request that are not among those that alone are sent. */
  dropped: string[];
}

/** What of a request is not sent. */
export type Unsent = Pick<ShapedFields, 'unmapped' | 'dropped'>;

/**
 * What is sent of a record: defaults, then the write policies, which hold for values of the caller too, then the mapping
 * to provider names (§2.5).
 */
export function shapeFields(
  kind: 'create' | 'update',
  sent: Readonly<Record<string, unknown>>,
  rules: FieldRules,
): ShapedFields {
  const { entries, ...found } = mapNames(sent, rules);
  const byKey = new Map(entries.map(([name, value]) => [name.toLowerCase(), { name, value }]));
  for (const [name, value] of defaultsFor(kind, rules)) {
    const field = providerName(name, rules);
    if (!byKey.has(field.toLowerCase())) byKey.set(field.toLowerCase(), { name: field, value });
  }
  const policies = new Map(
    Object.entries(rules.settings).map(([name, rule]) => [providerName(name, rules).toLowerCase(), rule]),
  );
  const shaped: ShapedFields = { fields: {}, ifEmpty: [], ...found };
  for (const [key, { name, value }] of byKey) {
    const policy = policyFor(kind, policies.get(key));
    if (policy === 'never') continue;
    setField(shaped.fields, name, value);
    if (policy === 'ifEmpty') shaped.ifEmpty.push(name);
  }
  return shaped;
}

/** Of all records, each name once; absent where there is none. */
export function unsentOf(shaped: readonly Unsent[]): Partial<Unsent> {
  const unmapped = new Set(shaped.flatMap((one) => one.unmapped));
  const dropped = new Set(shaped.flatMap((one) => one.dropped));
  return {
    ...(unmapped.size > 0 ? { unmapped: [...unmapped] } : {}),
    ...(dropped.size > 0 ? { dropped: [...dropped] } : {}),
  };
}

/** The write policies alone, for fields that have the provider's names already. */
export function applyPolicies(
  kind: 'create' | 'update',
  planned: Readonly<Record<string, unknown>>,
  rules: FieldRules,
): Pick<ShapedFields, 'fields' | 'ifEmpty'> {
  const draft = new Draft();
  const fields = draft.own(planned) as Record<string, unknown>;
  const ownNames = new Map(Object.keys(fields).map((key) => [key.toLowerCase(), key]));
  const ifEmpty: string[] = [];
  for (const [name, rule] of Object.entries(rules.settings)) {
    const policy = policyFor(kind, rule);
    const path = providerName(name, rules);
    const [root = path, ...inner] = fieldLevels(path);
    const own = ownNames.get(root.toLowerCase());
    if (own === undefined || readPath(fields, [own, ...inner]) === undefined) continue;
    if (policy === 'never') takeAway(draft, fields, [own, ...inner]);
    if (policy === 'ifEmpty') ifEmpty.push(isPath(path) ? path : own);
  }
  return { fields, ifEmpty };
}

function policyFor(kind: 'create' | 'update', rule: FieldRule | undefined): 'always' | 'never' | 'ifEmpty' {
  return (kind === 'create' ? rule?.writeOnCreate : rule?.writeOnUpdate) ?? 'always';
}

function* defaultsFor(kind: 'create' | 'update', rules: FieldRules): Generator<[string, unknown]> {
  for (const [name, rule] of Object.entries(rules.settings)) {
    const value = rule.default?.stringValue ?? rule.default?.integerValue ?? rule.default?.booleanValue;
    if (value !== undefined) yield [name, value];
  }
  for (const [name, { value, applyOnUpdate }] of Object.entries(rules.valueDefaults)) {
    if (kind === 'create' || applyOnUpdate !== 'never') yield [name, value];
  }
}

/** The provider field that a name of the request or of the config stands for. */
export function providerName(name: string, rules: FieldRules): string {
  return lookUp(rules.mappings, name) ?? name;
}

function lookUp(mappings: FieldRules['mappings'], name: string): string | undefined {
  if (Object.hasOwn(mappings, name)) return mappings[name];
  return hasNone(mappings) ? undefined : foldedOf(mappings).get(name.toLowerCase());
}

/** As for most objects: nothing is remembered of them. */
function hasNone(mappings: FieldRules['mappings']): boolean {
  for (const _name in mappings) return false;
  return true;
}

const folded = new WeakMap<FieldRules['mappings'], Map<string, string>>();

/** The mappings by their names in lower case, made once for all fields of all records; of two the first counts. */
function foldedOf(mappings: FieldRules['mappings']): Map<string, string> {
  const known = folded.get(mappings);
  if (known) return known;
  const made = new Map<string, string>();
  for (const [name, field] of Object.entries(mappings)) {
    const key = name.toLowerCase();
    if (!made.has(key)) made.set(key, field);
  }
  folded.set(mappings, made);
  return made;
}

function mapNames(
  sent: Readonly<Record<string, unknown>>,
  rules: FieldRules,
): { entries: [string, unknown][] } & Pick<ShapedFields, 'collisions'> & Unsent {
  const unset = new Set(rules.unsetMappings.map((name) => name.toLowerCase()));
  const nested = Object.keys(rules.mappings).filter(isPath);
  const taken = nested.flatMap((path): [string, unknown][] => {
    const value = readPath(sent, fieldLevels(path));
    return value === undefined ? [] : [[rules.mappings[path] ?? path, value]];
  });
  const own = Object.entries(withoutPaths(sent, nested));
  const isUnmapped = ([name]: [string, unknown]): boolean => unset.has(name.toLowerCase());
  const isDropped = rules.only ? isNoneOf(rules, rules.only) : () => false;
  const plain = own
    .filter((entry) => !isUnmapped(entry) && !isDropped(entry))
    .map(([name, value]): [string, unknown] => [providerName(name, rules), value]);
  const entries = [...plain, ...taken];
  const seen = new Set<string>();
  const collisions = entries.map(([name]) => name).filter((name) => !isNew(seen, name.toLowerCase()));
  const named = ([name]: [string, unknown]): string => name;
  return {
    entries,
    collisions,
    unmapped: own.filter(isUnmapped).map(named),
    dropped: own.filter((entry) => !isUnmapped(entry) && isDropped(entry)).map(named),
  };
}

/** Neither the builder's nor the provider's name of a mapping. What a record is known by is sent in any case. */
function isNoneOf(
  { mappings, goesBy = 'id' }: FieldRules,
  only: readonly string[],
): (entry: [string, unknown]) => boolean {
  const names = ['id', goesBy, ...only, ...Object.entries(mappings).flat()];
  const known = new Set(names.map((name) => name.toLowerCase()));
  return ([name]) => !known.has(name.toLowerCase());
}

function isNew(seen: Set<string>, key: string): boolean {
  const size = seen.size;
  return seen.add(key).size > size;
}

// Nested names are bracket paths such as $['address']['city'].
function isPath(name: string): boolean {
  return name.startsWith('$[');
}

function readPath(value: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>(
    (inner, segment) => (isPlain(inner) && Object.hasOwn(inner, segment) ? inner[segment] : undefined),
    value,
  );
}

/** The record without the values that nested mappings took; objects that become empty by it go, too. */
function withoutPaths(
  sent: Readonly<Record<string, unknown>>,
  paths: readonly string[],
): Readonly<Record<string, unknown>> {
  if (paths.length === 0) return sent;
  const draft = new Draft();
  const rest = draft.own(sent) as Record<string, unknown>;
  for (const path of paths) takeAway(draft, rest, fieldLevels(path));
  return rest;
}

/** Takes the value at the path out of a copy of the caller's object. */
function takeAway(draft: Draft, owned: Record<string, unknown>, [first, ...others]: readonly string[]): void {
  if (first === undefined || !Object.hasOwn(owned, first)) return;
  const inner = owned[first];
  if (others.length > 0) {
    if (!isPlain(inner)) return;
    const copy = draft.own(inner);
    takeAway(draft, copy, others);
    owned[first] = copy;
    if (Object.keys(copy).length > 0) return;
  }
  Reflect.deleteProperty(owned, first);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  const segments = fieldLevels(name);
  let target = fields;
  for (const segment of segments.slice(0, -1)) {
    const next = Object.hasOwn(target, segment) && isPlain(target[segment]) ? target[segment] : {};
    target[segment] = next;
    target = next;
  }
  const last = segments.at(-1);
  if (last !== undefined) target[last] = value;
}

import { Draft } from '../../../kit/draft.ts';
import { isExactNumber } from '../../../kit/json.ts';
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
  compiled: CompiledRules,
): ShapedFields {
  const { rules, policies } = compiled;
  const { byKey, collisions, unmapped, dropped } = mapNames(sent, compiled);
  for (const [name, value] of defaultsFor(kind, rules)) {
    if (compiled.unset.has(keyOf(name))) continue;
    const field = providerName(name, rules);
    if (!isTaken(byKey, field)) byKey.set(keyOf(field), { name: field, value });
  }
  const shaped: ShapedFields = { fields: {}, ifEmpty: [], collisions, unmapped, dropped };
  const draft = new Draft();
  const nested: { levels: readonly string[]; value: unknown }[] = [];
  for (const [key, { name, value }] of byKey) {
    const policy = policies.get(key)?.[kind];
    const levels = isPath(name) ? levelsOf(name) : undefined;
    if (policy === 'never' || (levels && liesInNever(kind, levels, policies))) continue;
    if (levels) nested.push({ levels, value });
    else shaped.fields[name] = value;
    if (policy === 'ifEmpty') shaped.ifEmpty.push(name);
  }
  // A value that is written whole would replace what was put into it before.
  nested.sort((one, other) => one.levels.length - other.levels.length);
  for (const { levels, value } of nested) setField(draft, shaped.fields, placeOf(byKey, levels), value);
  for (const { field, [kind]: policy } of policies.values())
    if (isPath(field) && policy === 'never') takeAway(draft, shaped.fields, placeOf(byKey, levelsOf(field)));
  return shaped;
}

/** Of all records, each name once; absent where there is none. */
export function unsentOf(shaped: readonly Unsent[]): Partial<Unsent> {
  if (shaped.every(({ unmapped, dropped }) => unmapped.length + dropped.length === 0)) return {};
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
  for (const { field: path, [kind]: policy } of compileRules(rules).policies.values()) {
    const [root = path, ...inner] = fieldLevels(path);
    const own = ownNames.get(root.toLowerCase());
    if (own === undefined || readPath(fields, [own, ...inner]) === undefined) continue;
    if (policy === 'never') takeAway(draft, fields, [own, ...inner]);
    if (policy === 'ifEmpty') ifEmpty.push(isPath(path) ? path : own);
  }
  return { fields, ifEmpty };
}

/** Whether an object that the field lies in is never written. */
function liesInNever(
  kind: 'create' | 'update',
  levels: readonly string[],
  policies: CompiledRules['policies'],
): boolean {
  return outersOf(levels).some(({ key }) => policies.get(key)?.[kind] === 'never');
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
export function providerName(name: string, rules: Pick<FieldRules, 'mappings'>): string {
  const own = plainName(name);
  return plainName(lookUp(rules.mappings, own) ?? own);
}

function lookUp(mappings: FieldRules['mappings'], name: string): string | undefined {
  if (Object.hasOwn(mappings, name)) return mappings[name];
  return hasNone(mappings) ? undefined : foldedOf(mappings).get(keyOf(name));
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
    const key = keyOf(name);
    if (!made.has(key)) made.set(key, field);
  }
  folded.set(mappings, made);
  return made;
}

/** What the rules say of a name, by it in lower case. */
export interface CompiledRules {
  rules: FieldRules;
  /** Mapped names that are paths. */
  nested: readonly string[];
  /** Unset names that are paths. */
  unsetNested: readonly string[];
  policies: ReadonlyMap<string, FieldPolicies>;
  unset: ReadonlySet<string>;
  /** Where given: names beside these are not sent. */
  known: ReadonlySet<string> | undefined;
}

type Policy = 'always' | 'never' | 'ifEmpty';

/** When a field of the provider is written. */
interface FieldPolicies {
  field: string;
  create: Policy;
  update: Policy;
}

const compiledBefore = new WeakMap<FieldRules, CompiledRules>();

/** Made once for the same rules. */
export function compileRules(rules: FieldRules): CompiledRules {
  const before = compiledBefore.get(rules);
  if (before) return before;
  const compiled = compile(rules);
  compiledBefore.set(rules, compiled);
  return compiled;
}

function compile(rules: FieldRules): CompiledRules {
  const { mappings, unsetMappings, only } = rules;
  return {
    rules,
    nested: Object.keys(mappings).filter((name) => isPath(plainName(name))),
    unsetNested: unsetMappings.filter((name) => isPath(plainName(name))),
    policies: policiesOf(rules),
    unset: new Set(unsetMappings.map(keyOf)),
    known: only && knownOf(rules, only),
  };
}

/** Of settings that name one field in another case, or by the builder's and the provider's name, the strictest policy holds. */
function policiesOf(rules: FieldRules): Map<string, FieldPolicies> {
  const found = new Map<string, FieldPolicies>();
  for (const [name, { writeOnCreate = 'always', writeOnUpdate = 'always' }] of Object.entries(
    rules.settings,
  )) {
    const field = providerName(name, rules);
    const before = found.get(keyOf(field));
    found.set(keyOf(field), {
      field,
      create: strictest(writeOnCreate, before?.create),
      update: strictest(writeOnUpdate, before?.update),
    });
  }
  return found;
}

function strictest(one: Policy, other: Policy = 'always'): Policy {
  return one === 'never' || other === 'always' ? one : other;
}

/** The builder's and the provider's names of the mappings. What a record is known by is sent in any case. */
function knownOf({ mappings, goesBy = 'id' }: FieldRules, only: readonly string[]): Set<string> {
  const names = ['id', goesBy, ...only, ...Object.entries(mappings).flat()];
  return new Set(names.map(keyOf));
}

/** Fields in provider names, by the keys of these. */
type ByKey = Map<string, { name: string; value: unknown }>;

interface MappedNames extends Pick<ShapedFields, 'collisions'>, Unsent {
  byKey: ByKey;
}

function mapNames(
  request: Readonly<Record<string, unknown>>,
  { rules, nested, unset, unsetNested, known }: CompiledRules,
): MappedNames {
  const byKey: ByKey = new Map();
  const found: MappedNames = { byKey, collisions: [], unmapped: [], dropped: [] };
  const take = (name: string, value: unknown): void => {
    const size = byKey.size;
    if (byKey.set(keyOf(name), { name, value }).size === size) found.collisions.push(name);
  };
  for (const path of unsetNested)
    if (placesIn(request, path).some((place) => readPath(request, place) !== undefined))
      found.unmapped.push(path);
  const sent = withoutPaths(request, unsetNested);
  for (const [name, value] of Object.entries(withoutPaths(sent, nested))) {
    const key = keyOf(name);
    if (unset.has(key)) found.unmapped.push(name);
    else if (known?.has(key) === false) found.dropped.push(name);
    else take(providerName(name, rules), value);
  }
  for (const path of nested)
    for (const place of placesIn(sent, path)) {
      const value = readPath(sent, place);
      if (value !== undefined) take(providerName(path, rules), value);
    }
  for (const { name } of byKey.values())
    if (isPath(name) && holdsWithin(byKey, name)) found.collisions.push(name);
  return found;
}

/** The place of a field, into the objects as they were sent. */
function placeOf(byKey: ByKey, levels: readonly string[]): string[] {
  for (const { key, inner } of outersOf(levels)) {
    const outer = byKey.get(key);
    if (outer) return [...placeOf(byKey, levelsOf(outer.name)), ...inner];
  }
  return [...levels];
}

/** Whether a value stands for the field already, by its name or in an object that was sent whole. */
function isTaken(byKey: ByKey, name: string): boolean {
  return byKey.has(keyOf(name)) || (isPath(name) && holdsWithin(byKey, name));
}

/** Whether a value stands at the path, or something that is no object on the way there, in an object that was sent. */
function holdsWithin(byKey: ByKey, path: string): boolean {
  return outersOf(levelsOf(path)).some(({ key, inner }) => {
    const outer = byKey.get(key);
    return outer !== undefined && isHeld(outer.value, inner);
  });
}

function isHeld(value: unknown, [level, ...inner]: readonly string[]): boolean {
  if (level === undefined || !isPlain(value)) return true;
  return Object.hasOwn(value, level) && isHeld(value[level], inner);
}

// Nested names are bracket paths such as $['address']['city'].
function isPath(name: string): boolean {
  return name.startsWith('$[');
}

function levelsOf(name: string): readonly string[] {
  const levels = isPath(name) ? fieldLevels(name) : [];
  return levels.length > 0 ? levels : [name];
}

/** `$['address']` is no nested name, but another way to write `address`. */
function plainName(name: string): string {
  if (!isPath(name)) return name;
  const [own = name, ...inner] = fieldLevels(name);
  return inner.length > 0 ? name : own;
}

/** What a name is compared by, however it is written. */
function keyOf(name: string): string {
  return isPath(name) ? keyOfLevels(levelsOf(name)) : name.toLowerCase();
}

function keyOfLevels(levels: readonly string[]): string {
  const [own = '', ...inner] = levels;
  return (inner.length > 0 ? JSON.stringify(levels) : own).toLowerCase();
}

/** The objects that the field lies in, the innermost first, and its levels in each. */
function outersOf(levels: readonly string[]): { key: string; inner: readonly string[] }[] {
  return levels.slice(1).map((_level, index) => {
    const depth = levels.length - 1 - index;
    return { key: keyOfLevels(levels.slice(0, depth)), inner: levels.slice(depth) };
  });
}

/** Where the path leads in the record: the name of the object may be sent in any case, as every name. */
function placesIn(sent: Readonly<Record<string, unknown>>, path: string): string[][] {
  const [root = path, ...inner] = fieldLevels(path);
  const key = root.toLowerCase();
  const own = Object.keys(sent).filter((name) => name.length === root.length && name.toLowerCase() === key);
  return own.map((name) => [name].concat(inner));
}

function readPath(value: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>(
    (inner, segment) => (isPlain(inner) && Object.hasOwn(inner, segment) ? inner[segment] : undefined),
    value,
  );
}

/** The record without the values at the paths; objects that become empty by it go, too. */
function withoutPaths(
  sent: Readonly<Record<string, unknown>>,
  paths: readonly string[],
): Readonly<Record<string, unknown>> {
  if (paths.length === 0) return sent;
  const draft = new Draft();
  const rest = draft.own(sent) as Record<string, unknown>;
  for (const path of paths) for (const place of placesIn(rest, path)) takeAway(draft, rest, place);
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
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Puts the value into copies of the caller's objects. */
function setField(
  draft: Draft,
  fields: Record<string, unknown>,
  levels: readonly string[],
  value: unknown,
): void {
  let target = fields;
  for (const level of levels.slice(0, -1)) {
    const inner = Object.hasOwn(target, level) ? target[level] : undefined;
    const next = draft.own(isPlain(inner) ? inner : {});
    target[level] = next;
    target = next;
  }
  const last = levels.at(-1);
  if (last !== undefined) target[last] = value;
}

import { failed, type Finding, type Path } from './finding.ts';
import { didYouMean } from './suggest.ts';

/** The part of JSON Schema that the manifest's schemas use. */
interface Shape {
  type?: string;
  const?: unknown;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, object>;
  required?: string[];
  items?: Shape;
  minItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  description?: string;
}

/**
 * Checks a value against a manifest schema. Ajv would find the same faults; this names the place as a path, so that each
 * has its line, and says which key was probably meant. A test holds the two equal.
 */
export function checkShape(schema: object, value: unknown, path: Path = []): Finding[] {
  const shape = schema as Shape;
  const allowed = allowedValues(shape);
  if (allowed) return allowed.includes(value) ? [] : [notOneOf(allowed, value, path)];
  if (shape.type === 'object') return checkObject(shape, value, path);
  if (shape.type === 'array') return checkArray(shape, value, path);
  if (shape.type === 'string') return checkString(shape, value, path);
  if (shape.type === 'integer') return checkInteger(shape, value, path);
  return typeof value === 'boolean' ? [] : [failed('type', path, 'must be true or false')];
}

function allowedValues(shape: Shape): unknown[] | undefined {
  if (shape.const !== undefined) return [shape.const];
  return shape.anyOf?.map((branch) => branch.const);
}

function notOneOf(allowed: unknown[], value: unknown, path: Path): Finding {
  const names = allowed.map(String);
  const rule = path.at(-1) === 'specVersion' ? 'spec-version' : 'allowed-value';
  return failed(rule, path, `must be ${names.join(' or ')}`, didYouMean(String(value), names));
}

function checkObject(shape: Shape, value: unknown, path: Path): Finding[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [failed('type', path, 'must be a map of keys')];
  }
  const properties = shape.properties ?? {};
  const free = Object.keys(shape.patternProperties ?? {}).map((pattern) => new RegExp(pattern));
  const missing = (shape.required ?? [])
    .filter((key) => !Object.hasOwn(value, key))
    .map((key) => failed('required', [...path, key], 'is required'));
  const unfit = Object.entries(value).flatMap(([key, child]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property) return checkShape(property, child, [...path, key]);
    if (free.some((pattern) => pattern.test(key))) return [];
    return [
      failed('unknown-key', [...path, key], 'is not a known key', didYouMean(key, Object.keys(properties))),
    ];
  });
  return [...missing, ...unfit];
}

function checkArray(shape: Shape, value: unknown, path: Path): Finding[] {
  if (!Array.isArray(value)) return [failed('type', path, 'must be a list')];
  const least = shape.minItems ?? 0;
  if (value.length < least) return [failed('too-few', path, `must have at least ${least} entry`)];
  const { items } = shape;
  return items ? value.flatMap((item, index) => checkShape(items, item, [...path, index])) : [];
}

function checkString(shape: Shape, value: unknown, path: Path): Finding[] {
  if (typeof value !== 'string') return [failed('type', path, 'must be text', quoteHint(value))];
  // Counted in code points, as JSON Schema does.
  const { length } = Array.from(value);
  if (length < (shape.minLength ?? 0)) return [failed('required', path, 'must not be empty')];
  if (length > (shape.maxLength ?? Infinity)) {
    return [failed('too-long', path, `must have at most ${shape.maxLength} characters`)];
  }
  if (shape.pattern === undefined || new RegExp(shape.pattern, 'u').test(value)) return [];
  return [failed('name-form', path, `is not allowed. ${shape.description ?? ''}`.trim())];
}

function quoteHint(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? `Put it in quotes: '${value}'` : undefined;
}

function checkInteger(shape: Shape, value: unknown, path: Path): Finding[] {
  if (!Number.isInteger(value)) return [failed('type', path, 'must be a whole number')];
  const number = value as number;
  if (number < (shape.minimum ?? -Infinity))
    return [failed('out-of-range', path, `must be at least ${shape.minimum}`)];
  if (number > (shape.maximum ?? Infinity))
    return [failed('out-of-range', path, `must be at most ${shape.maximum}`)];
  return [];
}

import type { ErrorObject } from 'ajv';
import { compileFaults, segmentsOf } from '../../kit/http/validation.ts';
import { failed, type Finding, type Path } from './finding.ts';
import { didYouMean } from './suggest.ts';

/** Checks a value against a schema. Each finding has its path, so that it can be placed in the text, and often a suggestion. */
export function compileShape(schema: object): (value: unknown, root?: Path) => Finding[] {
  const faultsOf = compileFaults(schema);
  return (value, root = []) => {
    // The first fault of a place says enough: a text that is empty does not fit its pattern either.
    const byPath = new Map<string, Finding>();
    for (const error of faultsOf(value)) {
      const finding = worded(error, [...root, ...pathIn(value, segmentsOf(error.instancePath))]);
      const key = JSON.stringify(finding.path);
      if (!byPath.has(key)) byPath.set(key, finding);
    }
    return [...byPath.values()];
  };
}

/** Ajv writes an index as it writes a key; the value tells them apart. */
function pathIn(value: unknown, segments: readonly string[]): Path {
  let at = value;
  return segments.map((segment) => {
    const key = Array.isArray(at) ? Number(segment) : segment;
    at = (at as Record<string | number, unknown>)[key];
    return key;
  });
}

interface Schema {
  const?: unknown;
  properties?: object;
  description?: string;
}

function worded(error: ErrorObject, path: Path): Finding {
  const params = error.params as Record<string, unknown>;
  const parent = (error.parentSchema ?? {}) as Schema;
  const limit = String(params['limit']);
  // The one value that is allowed says more than its type.
  if (parent.const !== undefined) return notOneOf([parent.const], error.data, path);
  switch (error.keyword) {
    case 'required':
      return failed('required', [...path, String(params['missingProperty'])], 'is required');
    case 'additionalProperties':
      return unknownKey(String(params['additionalProperty']), parent, path);
    case 'anyOf':
      return notOneOf(
        (error.schema as { const?: unknown }[]).map((branch) => branch.const),
        error.data,
        path,
      );
    case 'minItems':
      return failed('too-few', path, `must have at least ${limit} entry`);
    case 'maxItems':
      return failed('too-many', path, `must have at most ${limit} entries`);
    case 'minLength':
      return failed('required', path, 'must not be empty');
    case 'maxLength':
      return failed('too-long', path, `must have at most ${limit} characters`);
    case 'pattern':
      return failed('name-form', path, `is not allowed. ${parent.description ?? ''}`.trim());
    case 'minimum':
      return failed('out-of-range', path, `must be at least ${limit}`);
    case 'maximum':
      return failed('out-of-range', path, `must be at most ${limit}`);
    case 'type':
      return wrongType(String(params['type']), error.data, path);
    default:
      return failed('type', path, error.message ?? 'is not valid');
  }
}

function unknownKey(key: string, { properties = {} }: Schema, path: Path): Finding {
  if (key === '<<')
    return failed(
      'unknown-key',
      [...path, key],
      'merges another map, which is not taken here',
      'Write out what it holds. An alias may stand for a whole value',
    );
  const known = Object.keys(properties);
  const suggestion =
    didYouMean(key, known) ?? whereItBelongs(key, properties) ?? `Known here: ${known.join(', ')}`;
  return failed('unknown-key', [...path, key], 'is not a known key', suggestion);
}

/** A key that was written one level too high. */
function whereItBelongs(key: string, properties: object): string | undefined {
  const [name] = Object.entries(properties).find(([, schema]) => key in (schema.properties ?? {})) ?? [];
  return name && `Write it below ${name}`;
}

function notOneOf(allowed: readonly unknown[], value: unknown, path: Path): Finding {
  const names = allowed.map(String);
  const rule = path.at(-1) === 'specVersion' ? 'spec-version' : 'allowed-value';
  // A single value is its own suggestion.
  const suggestion = names.length > 1 ? didYouMean(String(value), names) : undefined;
  return failed(rule, path, `must be ${names.join(' or ')}`, suggestion);
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map of keys',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  boolean: 'true or false',
};

function wrongType(type: string, value: unknown, path: Path): Finding {
  const isBare = type === 'string' && (typeof value === 'number' || typeof value === 'boolean');
  const hint = isBare ? `Put it in quotes: '${value}'` : undefined;
  return failed('type', path, `must be ${typeNames[type] ?? type}`, hint);
}

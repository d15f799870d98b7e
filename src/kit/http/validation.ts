import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { FastifyRouteSchemaDef, FastifySchema } from 'fastify/types/schema.js';
import { nearest } from '../nearest.ts';
import { maxIssues, type Issue } from '../problem.ts';
import { formatAdvice, patternAdvice } from '../reference-schema.ts';
import { isTime } from '../times.ts';
import { holdsExact, putBack, standInForNumbers, type StandIn } from './stand-ins.ts';

// The package's type says module; its code is the function itself.
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => Ajv2020;

const common = {
  allErrors: true,
  strict: false,
  removeAdditional: false,
  useDefaults: true,
  verbose: true,
  // Ajv's optimizing takes a quarter of the time of compiling or more. It keeps each name of the code as the key of an object, and after so many
  // keys V8 gave each new object a hidden class of its own until the next full collection.
  code: { optimize: false },
} as const;
const withFormats = (ajv: Ajv2020): Ajv2020 => addFormats(ajv).addFormat('date-time', isTime);
// Bodies are taken as sent; queries and paths arrive as text and are read as what the schema says.
const exact = withFormats(new Ajv2020({ ...common, coerceTypes: false }));
const coercing = withFormats(new Ajv2020({ ...common, coerceTypes: 'array' }));

/** Compiles when it is asked first: most schemas of a process are never used, and a start would wait for all of them. */
function compiledOnce(ajv: Ajv2020, schema: object): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => (validate ??= ajv.compile(schema));
}

const places = { body: 'body', params: 'path', querystring: 'query', headers: 'header' } as const;

/** The first things wrong, and how many more there are. */
export interface FoundIssues {
  issues: Issue[];
  more: number;
}

class ValidationFailure extends Error {
  readonly found: FoundIssues;
  constructor(found: FoundIssues) {
    super('validation failed');
    this.found = found;
  }
}

/** Fastify's validator: every fault is found at once, and the first ones are named by their paths. */
export function validatorCompiler({
  schema,
  httpPart,
}: FastifyRouteSchemaDef<FastifySchema>): (data: unknown) => { value: unknown } | { error: Error } {
  const ajv = httpPart === 'body' ? exact : coercing;
  const compiled = compiledOnce(ajv, schema);
  const place = places[(httpPart ?? 'body') as keyof typeof places] ?? 'body';
  return (data) => {
    const validate = compiled();
    const { isValid, value } = holdsExact(data)
      ? validateExact(validate, data)
      : { isValid: validate(data), value: data };
    return isValid ? { value } : { error: new ValidationFailure(issuesFrom(validate, place)) };
  };
}

/** Validates a body that holds numbers kept as their texts. */
function validateExact(validate: ValidateFunction, body: unknown): { isValid: boolean; value: unknown } {
  const holder = { value: body };
  const standIns = standInForNumbers(holder);
  let isValid = validate(holder.value);
  if (!isValid && plainNumbers(standIns, validate)) isValid = validate(holder.value);
  putBack(standIns.filter(({ parent, key, symbol }) => parent[key] === symbol));
  return { isValid, ...holder };
}

/** Fifteen digits fit a double whatever they are. */
const fitsDouble = /^-?\d{1,15}$|^-?(?=[\d.]{3,16}$)\d+\.\d+$/;

/**
 * Where the schema wants a number and the text is kept (`1.50`), the number takes its place, if none of its digits is lost
 * by that. True when something was replaced.
 */
function plainNumbers(standIns: readonly StandIn[], validate: ValidateFunction): boolean {
  const errors = validate.errors ?? [];
  const misfits = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ data }) => data));
  const fitting = standIns.filter(
    ({ number, symbol }) => misfits.has(symbol) && fitsDouble.test(number.rawJSON),
  );
  for (const { parent, key, number } of fitting) parent[key] = Number(number.rawJSON);
  return fitting.length > 0;
}

/** The issues of a validation failure, or undefined for any other error. */
export function issuesOf(error: unknown): FoundIssues | undefined {
  return error instanceof ValidationFailure ? error.found : undefined;
}

/** The faults of a value as Ajv reports them, without those of single branches of a union. */
export function compileFaults(schema: object): (value: unknown) => readonly ErrorObject[] {
  const compiled = compiledOnce(exact, schema);
  return (value) => {
    const validate = compiled();
    return validate(value) ? [] : (validate.errors ?? []).filter(isNoBranch);
  };
}

/** Where in the value the error is: the keys and indexes, as text. */
export function segmentsOf(instancePath: string): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Checks a value against a schema outside of HTTP. */
export function compileCheck(
  schema: object,
): (value: unknown, place: Issue['in'], root?: string) => FoundIssues {
  const compiled = compiledOnce(exact, schema);
  return (value, place, root = '') => {
    const validate = compiled();
    const holder = { value };
    const standIns = standInForNumbers(holder);
    const isValid = validate(holder.value);
    putBack(standIns);
    return isValid ? { issues: [], more: 0 } : issuesFrom(validate, place, root);
  };
}

/** Words only the issues that are shown: a body may have tens of thousands. */
function issuesFrom(validate: ValidateFunction, place: Issue['in'], root?: string): FoundIssues {
  const seen = new Map<string, Issue>();
  let more = 0;
  for (const error of validate.errors ?? []) {
    if (!saysSomething(error)) continue;
    if (seen.size === maxIssues) {
      more += 1;
      continue;
    }
    const path = dottedPath(error);
    const { name, detail } =
      root === undefined && path === ''
        ? asWhole(error, place)
        : { name: joinPath(root ?? '', path), detail: describe(error) };
    const key = `${name} ${detail}`;
    if (!seen.has(key)) seen.set(key, { in: place, name, detail, ...shownValue(error) });
  }
  return { issues: [...seen.values()], more };
}

/** Of a value as a whole there is no path: it is called by its place. */
function asWhole(error: ErrorObject, place: Issue['in']): { name: string; detail: string } {
  const detail = describe(error);
  if (error.keyword !== 'type') return { name: place, detail };
  return { name: place, detail: `${detail}; it is ${kindOf(error.data)}` };
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'missing or null';
  if (Array.isArray(value)) return 'an array';
  // It stands in for one.
  if (typeof value === 'symbol') return 'a number';
  if (typeof value === 'string' && /^\s*[[{]/.test(value))
    return 'a text that holds JSON: encode it once only';
  return `a ${typeof value}`;
}

/** The branches of a failed anyOf are noise when the union itself is reported. */
function isNoBranch({ schemaPath }: ErrorObject): boolean {
  return !/\/(anyOf|oneOf)\/\d+\//.test(schemaPath);
}

function saysSomething(error: ErrorObject): boolean {
  return isNoBranch(error) || error.keyword === 'additionalProperties';
}

/** `/batch/3/record` with a missing `id` becomes `batch[3].record.id`. */
function dottedPath(error: ErrorObject): string {
  const params = error.params as Record<string, string>;
  const leaf = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'];
  const parts = segmentsOf(error.instancePath);
  if (leaf !== undefined) parts.push(leaf);
  return parts.reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joinPath(path, part)), '');
}

function joinPath(left: string, right: string): string {
  if (left === '' || right === '') return left + right;
  return right.startsWith('[') ? left + right : `${left}.${right}`;
}

function describe(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `is required${choicesOf(propertyOf(error, String(params['missingProperty'])))}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownProperty(error);
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'anyOf':
    case 'oneOf':
      return describeUnion(error);
    case 'pattern':
      return patternAdvice[String(error.schema)] ?? error.message ?? 'is not valid';
    case 'format':
      return formatAdvice[String(error.schema)] ?? error.message ?? 'is not valid';
    case 'minItems':
    case 'minLength':
    case 'minProperties':
      return `must have at least ${counted(params['limit'], error.keyword)}`;
    case 'maxItems':
    case 'maxLength':
    case 'maxProperties':
      return `must have at most ${counted(params['limit'], error.keyword)}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function counted(limit: unknown, keyword: string): string {
  const one = keyword.endsWith('Items') ? 'item' : keyword.endsWith('Length') ? 'character' : 'member';
  return `${String(limit)} ${one}${limit === 1 ? '' : 's'}`;
}

interface Property {
  enum?: unknown[];
  anyOf?: { const?: unknown }[];
  properties?: object;
  patternProperties?: object;
}

function propertiesOf({ parentSchema }: ErrorObject): Record<string, Property> {
  return (parentSchema?.['properties'] as Record<string, Property> | undefined) ?? {};
}

function propertyOf(error: ErrorObject, name: string): Property | undefined {
  const properties = propertiesOf(error);
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** What may stand there, where that is one of a few. */
function choicesOf(property: Property | undefined): string {
  const choices = property?.enum ?? property?.anyOf?.map((branch) => branch.const);
  if (!choices || choices.length > mostNames || choices.includes(undefined)) return '';
  return `: ${choices.map((value) => JSON.stringify(value)).join(' or ')}`;
}

/** More are not listed. */
const mostNames = 12;

function unknownProperty(error: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty } = error.params as Record<string, string | undefined>;
  const name = additionalProperty ?? unevaluatedProperty ?? '';
  const properties = propertiesOf(error);
  const known = Object.keys(properties);
  const fault = 'is not a known property';
  const within = known.find((one) => Object.hasOwn(properties[one]?.properties ?? {}, name));
  if (within !== undefined) return `${fault} here; it belongs in "${within}"`;
  const meant = nearest(name, known);
  if (meant !== undefined) return `${fault}; did you mean "${meant}"?`;
  if (known.length > 0 && known.length <= mostNames) return `${fault}; known here: ${known.join(', ')}`;
  const [open, ...others] = known.filter((one) => properties[one]?.patternProperties);
  return open === undefined || others.length > 0
    ? fault
    : `${fault} here; "${open}" takes fields of any name`;
}

function describeUnion(error: ErrorObject): string {
  const branches = Array.isArray(error.schema) ? (error.schema as { const?: unknown; type?: unknown }[]) : [];
  if (branches.length > 0 && branches.every((branch) => branch.const !== undefined)) {
    return `must be one of ${branches.map((branch) => JSON.stringify(branch.const)).join(', ')}`;
  }
  const types = branches.map((branch) => branch.type).filter((type) => typeof type === 'string');
  return types.length > 0
    ? `must be ${[...new Set(types)].join(' or ')}`
    : 'does not fit any of the allowed forms';
}

const secretField = /secret|pass(word|phrase)|token|key$|credential|code$|browser$/i;

/** Short scalars are shown back, unless the field's name says that they are secret. */
function shownValue(error: ErrorObject): { value?: unknown } {
  if (
    secretField.test(error.instancePath) ||
    error.keyword === 'required' ||
    error.keyword === 'additionalProperties'
  )
    return {};
  const value: unknown = error.data;
  const isShort =
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.length <= 100);
  return isShort ? { value } : {};
}

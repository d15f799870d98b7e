import { ProblemBody } from '../problem-schema.ts';
import { exemplify, type Examples, type Json, type Media } from './openapi-examples.ts';

/** Where a route's schema says by which statuses it fails besides; not in the document. */
export const failing = 'x-failing';

type Response = Json & { content?: Record<string, Media> };
interface Operation {
  parameters?: (Json & { required?: boolean; schema?: Json })[];
  requestBody?: Response;
  security?: unknown[];
  [failing]?: string[];
  responses: Record<string, Response>;
}

/** The part of an OpenAPI document that is worked on. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses?: Record<string, Response> };
}

/** The document as it came out of the routes, with everything that has a name said once, under `components`. */
export function refined(document: Document, examples: Examples): Document {
  const named = new Map<string, Json>();
  const problem = lifted(structuredClone(ProblemBody) as unknown as Json, named);
  const failed = {
    description: 'A problem (RFC 9457).',
    content: { 'application/problem+json': { schema: problem } },
  };
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const bodies: Response[] = [
    failed,
    ...operations.flatMap(({ responses, requestBody }) => [...Object.values(responses), requestBody ?? {}]),
  ];
  const media = bodies.flatMap(({ content }) => Object.values(content ?? {}));
  for (const each of media) each.schema &&= lifted(each.schema, named);
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
  for (const each of media) exemplify(each, examples, schemas);
  for (const operation of operations) {
    for (const parameter of operation.parameters ?? []) relax(parameter);
    for (const status of failuresOf(operation))
      operation.responses[status] ??= { $ref: '#/components/responses/Problem' };
    delete operation[failing];
  }
  return { ...document, components: { ...document.components, schemas, responses: { Problem: failed } } };
}

/** The statuses by which an operation fails because of what is asked and who asks. */
function failuresOf(operation: Operation): string[] {
  const { parameters = [], requestBody, security = [], responses, [failing]: others = [] } = operation;
  if ('4XX' in responses) return ['default'];
  const statuses = [
    ...(requestBody || parameters.length > 0 ? ['400'] : []),
    ...(security.length > 0 ? ['401', '403'] : []),
    ...(parameters.some((parameter) => parameter['in'] === 'path') ? ['404'] : []),
    ...(requestBody ? ['413', '415'] : []),
    ...others,
  ];
  return [...(statuses.length > 0 ? statuses : ['4XX']), 'default'];
}

/** A parameter with a default is not required. */
function relax(parameter: Json & { required?: boolean; schema?: Json }): void {
  if (parameter.in !== 'path' && parameter.schema?.['default'] !== undefined) parameter.required = false;
  if (parameter.required === false) delete parameter.required;
}

/** Nor is a member of a body that has one. */
function relaxMembers(schema: Json, required: readonly string[]): void {
  const members = (schema['properties'] ?? {}) as Record<string, Json>;
  schema['required'] = required.filter((name) => members[name]?.['default'] === undefined);
  if ((schema['required'] as string[]).length === 0) delete schema['required'];
}

/** Keywords whose values are schemas, lists of schemas or schemas by name; what other keywords hold is data. */
const inside = {
  one: ['items', 'additionalProperties', 'propertyNames', 'not'],
  list: ['anyOf', 'oneOf', 'allOf'],
  map: ['properties', 'patternProperties'],
};

/** The schema with a reference in place of each schema that has a title: that is its name, and `named` takes it. */
function lifted(schema: Json, named: Map<string, Json>): Json {
  const rest: Json = { ...schema };
  const go = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? lifted(value as Json, named) : value;
  for (const key of inside.one) if (key in rest) rest[key] = go(rest[key]);
  for (const key of inside.list) if (key in rest) rest[key] = (rest[key] as unknown[]).map(go);
  for (const key of inside.map)
    if (key in rest)
      rest[key] = Object.fromEntries(
        Object.entries(rest[key] as Json).map(([name, value]) => [name, go(value)]),
      );
  if (Array.isArray(rest['required'])) relaxMembers(rest, rest['required'] as string[]);
  const { title } = rest;
  if (typeof title !== 'string') return rest;
  const known = named.get(title);
  if (known && JSON.stringify(known) !== JSON.stringify(rest))
    throw new Error(`two schemas are named ${title}`);
  named.set(title, rest);
  return { $ref: `#/components/schemas/${title}` };
}

import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

/** The part of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

interface Content {
  $ref?: string;
  content?: Record<string, Media>;
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** One operation of the document. */
export interface Operation {
  operationId: string;
  method: string;
  path: string;
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  body: Schema | undefined;
  /** Whether nothing but the session of a signed-in person may call it. */
  isForPeople: boolean;
  isPublic: boolean;
  request: Content;
  responses: Record<string, Content>;
}

interface Item {
  operationId: string;
  parameters?: Operation['parameters'];
  requestBody?: Content;
  responses: Record<string, Content>;
  security?: Record<string, unknown>[];
}

const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as {
  paths: Record<string, Record<string, Item>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Content> };
};

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, { operationId, parameters = [], requestBody, responses, security = [] }]): Operation => ({
      operationId,
      method: method.toUpperCase(),
      path,
      parameters,
      request: requestBody ?? {},
      body: requestBody?.content?.['application/json']?.schema,
      isPublic: security.length === 0,
      isForPeople: security.length > 0 && security.every((way) => Object.hasOwn(way, 'session')),
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, shared(response)]),
      ),
    }),
  ),
);

function shared(response: Content): Content {
  if (response.$ref === undefined) return response;
  return document.components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {};
}

/** The schema that a reference leads to. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (!found) throw new Error(`${schema.$ref} leads nowhere`);
  return found;
}

/** Every body that an operation takes or gives, with the examples of it. */
export function bodiesOf({
  request,
  responses,
}: Operation): { place: string; schema: Schema; examples: unknown[] }[] {
  return [['request', request] as const, ...Object.entries(responses)].flatMap(([status, { content = {} }]) =>
    Object.entries(content).map(([type, { schema = {}, example, examples = {} }]) => ({
      place: `${status} ${type}`,
      schema,
      examples: [
        ...(example === undefined ? [] : [example]),
        ...Object.values(examples).map(({ value }) => value),
      ],
    })),
  );
}

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => Ajv2020;
const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
ajv.addSchema({ $id: 'document', components: document.components });
const validators = new Map<Schema, ValidateFunction>();

const streamed = new Set(['text/event-stream', 'application/x-ndjson', 'text/csv']);

/** What an answer has that the document does not say of it. */
export function deviationOf(
  { responses }: Operation,
  answer: { status: number; type: string; body: unknown; text: string },
): string | undefined {
  const { status, type } = answer;
  const declared = responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses['default'];
  if (status === 204 || ((status === 201 || status === 302) && answer.text === '')) return undefined;
  const media = type.split(';', 1)[0] ?? '';
  // Every operation may answer with a problem, also where it declares another body for the status.
  const content = declared?.content?.[media] ?? responses['default']?.content?.[media];
  if (!content) return `${status} with the content type ${JSON.stringify(type)} is not declared`;
  // Their schemas are those of an event or a line in it.
  if (!content.schema || streamed.has(media)) return undefined;
  const fault = faultOf(content.schema, answer.body);
  return fault === undefined ? undefined : `${status}: ${fault}`;
}

/** Why the value does not fit the schema, if it does not. */
export function faultOf(schema: Schema, value: unknown): string | undefined {
  const validate = validatorOf(schema);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

function validatorOf(schema: Schema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const placed = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  const made = ajv.compile(JSON.parse(placed) as object);
  validators.set(schema, made);
  return made;
}

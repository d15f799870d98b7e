export type Json = Record<string, unknown>;
/** A body of one content type. */
export type Media = Json & { schema?: Json };

/** Examples by the name of the schema that they fit. */
export type Examples = Readonly<Record<string, unknown>>;

/** Shows an example of each form that a body may take; nothing where none is known. */
export function exemplify(media: Media, examples: Examples, schemas: Readonly<Record<string, Json>>): void {
  if (!media.schema) return;
  const forms = (media.schema['oneOf'] ?? media.schema['anyOf'] ?? [media.schema]) as Json[];
  const shown = forms.flatMap((form) => {
    const value = exampleOf(form, examples, schemas);
    return value === undefined ? [] : [[nameOf(form) ?? 'list', { value }] as const];
  });
  if (shown.length === 1) media['example'] = shown[0]?.[1].value;
  else if (shown.length > 1) media['examples'] = Object.fromEntries(shown);
}

function nameOf(schema: Json): string | undefined {
  return (schema['$ref'] as string | undefined)?.split('/').at(-1);
}

/** Of a thing with a name, the one that is known; of lists and of objects that hold such things, one of each. */
function exampleOf(schema: Json, examples: Examples, schemas: Readonly<Record<string, Json>>): unknown {
  const name = nameOf(schema);
  if (name !== undefined) return examples[name] ?? exampleOf(schemas[name] ?? {}, examples, schemas);
  if (schema['type'] === 'array') {
    const item = exampleOf(schema['items'] as Json, examples, schemas);
    return item === undefined ? undefined : [item];
  }
  const required = (schema['required'] ?? []) as string[];
  const properties = schema['properties'] as Record<string, Json> | undefined;
  if (!properties || required.length === 0) return undefined;
  const members = required.map((key) => [key, exampleOf(properties[key] ?? {}, examples, schemas)] as const);
  return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members);
}

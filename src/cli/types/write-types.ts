import type { Manifest, ManifestIntegration, ManifestReadObject } from '../../projects/manifest/schema.ts';
import { fieldLevels } from '../../providers/index.ts';

/** Names of fields, by their levels. `open` takes other names, too. */
interface Names {
  open: boolean;
  inner: Map<string, Names>;
}

/** TypeScript types of what a manifest declares: for `new Svc<Integrations>(…)` of `@svc/client`. Pure. */
export function writeTypes({ integrations }: Manifest, source: string): string {
  const body = integrations.map((one) => `  ${key(one.name)}: {\n${integrationType(one)}  };\n`).join('');
  const imports = ['Fields', 'FieldValue'].filter((name) => new RegExp(`: ${name}\\b`).test(body));
  const from = imports.length > 0 ? `import type { ${imports.join(', ')} } from '@svc/client';\n\n` : '';
  return `// Written by \`svc types\` from ${source}. Write it again when that changes.\n${from}export type Integrations = {\n${body}};\n`;
}

function integrationType(integration: ManifestIntegration): string {
  const { provider, read, write } = integration;
  const written = (write?.objects ?? []).map(({ objectName, inheritMapping }) => {
    const declared = (read?.objects ?? []).find(
      (one) => one.objectName.toLowerCase() === objectName.toLowerCase(),
    );
    return `      ${key(objectName)}: ${inheritMapping && declared ? typeOf(writtenNames(declared)) : 'Fields'};\n`;
  });
  const delivered = (read?.objects ?? []).map((one) => {
    const { fields, mappedFields } = deliveredNames(one);
    return `      ${key(one.mapToName ?? one.objectName)}: { fields: ${typeOf(fields)}; mappedFields: ${typeOf(mappedFields)} };\n`;
  });
  return `    provider: ${text(provider)};\n    write: ${block(written)};\n    read: ${block(delivered)};\n`;
}

function block(members: readonly string[]): string {
  return members.length === 0 ? '{}' : `{\n${members.join('')}    }`;
}

/** What a record that is written through the mappings of the read object may hold: the builder's names, and those of fields that have none. */
function writtenNames(object: ManifestReadObject): Names {
  const names = none(object.optionalFieldsAuto === 'all');
  for (const { fieldName, mapToName } of fieldsOf(object))
    plant(names, fieldLevels(mapToName ?? fieldName ?? ''));
  return names;
}

/** What a message holds: provider names in lower case, each as one name, and the builder's, by their levels. */
function deliveredNames(object: ManifestReadObject): { fields: Names; mappedFields: Names } {
  const fields = none(object.optionalFieldsAuto === 'all');
  const mappedFields = none(false);
  for (const { fieldName, mapToName } of fieldsOf(object)) {
    if (mapToName !== undefined) plant(mappedFields, fieldLevels(mapToName));
    else if (fieldName !== undefined) plant(fields, [fieldName.toLowerCase()]);
  }
  return { fields, mappedFields };
}

function fieldsOf({ requiredFields = [], optionalFields = [] }: ManifestReadObject) {
  return [...requiredFields, ...optionalFields];
}

function none(open: boolean): Names {
  return { open, inner: new Map() };
}

function plant(names: Names, [level, ...rest]: readonly string[]): void {
  if (level === undefined) return;
  const inner = names.inner.get(level) ?? none(false);
  names.inner.set(level, inner);
  plant(inner, rest);
}

function typeOf({ open, inner }: Names): string {
  if (inner.size === 0) return open ? 'Fields' : '{ [field: string]: never }';
  const members = [...inner].map(
    ([name, below]) => `${key(name)}?: ${below.inner.size === 0 ? 'FieldValue' : typeOf(below)}`,
  );
  return `{ ${[...members, ...(open ? ['[field: string]: FieldValue | undefined'] : [])].join('; ')} }`;
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name);
}

/** A literal of TypeScript. JSON escapes all that would end a line of it. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

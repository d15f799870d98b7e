import { maxIssues, type Issue } from '../../kit/problem.ts';
import { faultOfFilterValue, type ObjectDescription } from '../../providers/index.ts';
import type { ManifestIntegration, ManifestReadObject } from '../../projects/schema.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { entriesOf, mappingsOf, reversedMappings, theOtherWay } from './mappings.ts';
import { nearest } from '../../kit/nearest.ts';
import { entryOf, objectNamed } from './objects.ts';
import type { ConfigContent, FieldFilter, ReadObjectConfig, WriteObjectConfig } from './schema.ts';

/** A field of the provider that a config names, and where. */
export interface NamedField {
  path: string;
  fieldName: string;
  /** Of a mapping: the builder's name of the field, and whether the integration asks for a field of the provider's name instead. */
  mapping?: { mapToName: string; isReversed: boolean };
  /** Of a filter. */
  value?: FieldFilter['value'];
}

/** One object of the config with the fields it names; `path` is the object's place. */
export interface NamedObject {
  path: string;
  objectName: string;
  fields: NamedField[];
}

/** Every object that names fields of the provider. */
export function namedFields(content: ConfigContent, manifest: ManifestIntegration): NamedObject[] {
  const read = Object.entries(content.read?.objects ?? {}).map(([key, config]) => {
    const path = `${contentPath}.read.objects.${key}`;
    const declared = objectNamed(manifest.read?.objects, config.objectName);
    return { path, objectName: config.objectName, fields: readFields(path, config, declared) };
  });
  const write = Object.entries(content.write?.objects ?? {}).map(([key, config]) => {
    const path = `${contentPath}.write.objects.${key}`;
    return { path, objectName: config.objectName, fields: writeFields(path, config, content, manifest) };
  });
  return [...read, ...write].filter((object) => object.fields.length > 0);
}

function readFields(
  path: string,
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
): NamedField[] {
  const filters = (at: string, list: ReadObjectConfig['fieldFilters']) =>
    (list ?? []).map(({ fieldName, value }, index) => ({
      path: `${path}.${at}[${index}].fieldName`,
      fieldName,
      value,
    }));
  const reversed = new Set(reversedMappings(declared, config).map(({ key }) => key));
  return [
    ...selectedFields(config).map((fieldName) => ({
      path: `${path}.selectedFields.${fieldName}`,
      fieldName,
    })),
    ...Object.entries(config.selectedFieldMappings ?? {}).map(([mapToName, fieldName]) => ({
      path: `${path}.selectedFieldMappings.${mapToName}`,
      fieldName,
      mapping: { mapToName, isReversed: reversed.has(mapToName) },
    })),
    ...Object.keys(config.selectedValueMappings ?? {}).map((fieldName) => ({
      path: `${path}.selectedValueMappings.${fieldName}`,
      fieldName,
    })),
    ...filters('fieldFilters', config.fieldFilters),
    ...filters('backfill.fieldFilters', config.backfill?.fieldFilters),
  ];
}

function selectedFields(config: ReadObjectConfig | undefined): string[] {
  return Object.entries(config?.selectedFields ?? {}).flatMap(([name, isSelected]) =>
    isSelected ? name : [],
  );
}

/** The provider's fields that the manifest or the config names for reading, without a mapping. */
export function fieldsReadAsNamed(
  objectName: string,
  { manifest, content }: { manifest: ManifestIntegration; content: ConfigContent },
): string[] {
  const declared = entriesOf(objectNamed(manifest.read?.objects, objectName));
  const config = entryOf(content.read?.objects, objectName)?.[1];
  return [...declared.flatMap(({ fieldName }) => fieldName ?? []), ...selectedFields(config)];
}

function writeFields(
  path: string,
  config: WriteObjectConfig,
  content: ConfigContent,
  manifest: ManifestIntegration,
): NamedField[] {
  const mappings = inheritedMappings(config.objectName, content, manifest);
  return Object.keys(config.selectedFieldSettings ?? {}).map((name) => ({
    path: `${path}.selectedFieldSettings.${name}`,
    fieldName: Object.hasOwn(mappings, name) ? (mappings[name] ?? name) : name,
  }));
}

/** The read-side mappings that writes of the object go through; none unless inherited (the config wins over the manifest). */
export function inheritedMappings(
  objectName: string,
  content: ConfigContent,
  manifest: ManifestIntegration,
): Record<string, string> {
  if (!inheritsMapping(objectName, content, manifest)) return {};
  const declared = objectNamed(manifest.read?.objects, objectName);
  return mappingsOf(declared, entryOf(content.read?.objects, objectName)?.[1]);
}

/** The config's `inheritMapping` when present, else the manifest's. */
export function inheritsMapping(
  objectName: string,
  content: ConfigContent,
  manifest: ManifestIntegration,
): boolean {
  const configured = entryOf(content.write?.objects, objectName)?.[1].inheritMapping;
  const declared = objectNamed(manifest.write?.objects, objectName)?.inheritMapping;
  return configured ?? declared ?? false;
}

/** Names that the provider does not have for the object, each with the name that was probably meant. */
export function unknownFieldIssues(object: NamedObject, description: ObjectDescription): Issue[] {
  return unknownFields(object, description).map(({ field, message }) =>
    bodyIssue(field.path, message, field.fieldName),
  );
}

/** Values that filters cannot have by the type of their field. */
export function filterValueIssues({ fields }: NamedObject, description: ObjectDescription): Issue[] {
  return fields.flatMap(({ path, fieldName, value }) => {
    const fault = value === undefined ? undefined : faultOfFilterValue(description, { fieldName, value });
    return fault === undefined ? [] : [bodyIssue(path.replace(/fieldName$/, 'value'), fault, value)];
  });
}

/** The fields that the provider does not have for the object, with a sentence for each. */
export function unknownFields<Field extends Pick<NamedField, 'fieldName' | 'mapping'>>(
  { objectName, fields }: { objectName: string; fields: readonly Field[] },
  description: ObjectDescription,
): { field: Field; message: string; meant: string | undefined }[] {
  const names = Object.values(description.fields).map((field) => field.fieldName);
  const known = new Set(['id', ...names.map((name) => name.toLowerCase())]);
  return fields
    .filter(({ fieldName }) => !known.has(rootOf(fieldName).toLowerCase()))
    .map((field, index) => {
      const { fieldName, mapping } = field;
      const isSwapped = mapping !== undefined && known.has(rootOf(mapping.mapToName).toLowerCase());
      const meant = index < maxIssues && !mapping?.isReversed ? nearest(rootOf(fieldName), names) : undefined;
      const hint =
        meant !== undefined
          ? `; did you mean "${meant}"?`
          : isSwapped
            ? `; ${theOtherWay(mapping.mapToName, fieldName)}`
            : '';
      return { field, message: `${objectName} has no field "${fieldName}" at the provider${hint}`, meant };
    });
}

/** The field that holds a nested one; a description does not list nested fields. */
function rootOf(fieldName: string): string {
  const [, root] = /^\$\['((?:[^'\\]|\\.)+)'\]/.exec(fieldName) ?? [];
  return root?.replaceAll(/\\(.)/g, '$1') ?? fieldName;
}

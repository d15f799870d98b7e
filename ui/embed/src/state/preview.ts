import type {
  ConfigContent,
  FieldMetadata,
  HydratedReadObject,
  HydratedRevision,
  ReadPreview,
  WritePlanned,
} from '@svc/client';
import { readConfigOf, writeConfigOf } from './draft.ts';
import { fieldsOf } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import { memberOf } from './member.ts';

/** A record as the builder's application writes it, by object. */
export type ExampleRecords = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The draft with what concerns one object only: what is wrong with another one does not keep it from being shown. */
export function draftOf(draft: ConfigContent, objectName: string): ConfigContent {
  const read = readConfigOf(draft, objectName);
  const write = writeConfigOf(draft, objectName);
  return {
    provider: draft.provider,
    ...(read ? { read: { objects: { [objectName]: read } } } : {}),
    ...(write ? { write: { objects: { [objectName]: write } } } : {}),
  };
}

/** A field of an example, as it is called, with its value as a text; undefined: it has none. */
export interface ShownValue {
  key: string;
  label: string;
  text: string | undefined;
}

export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`;
}

/** What is delivered of the record, with values first; what is mapped under the builder's words. */
export function deliveredValues(
  { result: [record] }: ReadPreview,
  object: HydratedReadObject,
  offered: OfferedMappings = {},
): ShownValue[] {
  if (!record) return [];
  const declared = [...(object.requiredFields ?? []), ...(object.optionalFields ?? [])];
  const words = new Map(
    [...declared, ...(memberOf(offered, object.objectName) ?? [])].flatMap(
      ({ mapToName, mapToDisplayName }) =>
        mapToName === undefined ? [] : [[mapToName, mapToDisplayName ?? mapToName] as const],
    ),
  );
  const labels = labelsOf(object);
  const shown =
    (labelOf: (name: string) => string) =>
    ([name, value]: [string, unknown]): ShownValue => ({
      key: name,
      label: labelOf(name),
      text: textOf(value),
    });
  const all = [
    ...Object.entries(record.mappedFields).map(shown((name) => words.get(name) ?? name)),
    ...Object.entries(record.fields).map(shown((name) => labels.get(name.toLowerCase()) ?? name)),
    ...Object.entries(record.associations ?? {}).map(shown((name) => name)),
  ];
  return [...all.filter(({ text }) => text !== undefined), ...all.filter(({ text }) => text === undefined)];
}

function labelsOf(object: HydratedReadObject | undefined): Map<string, string> {
  const fields = object ? fieldsOf(object) : [];
  return new Map(fields.map(({ fieldName, displayName }) => [fieldName.toLowerCase(), displayName]));
}

export interface Written {
  revision: HydratedRevision;
  draft: ConfigContent;
  objectName: string;
}

/** What writes go through, from the builder's names: what the manifest fixes, and what the customer chose. */
export function mappingsOf({ revision, draft, objectName }: Written): Readonly<Record<string, string>> {
  const declared = revision.content.write?.objects.find((one) => one.objectName === objectName);
  const inherits = writeConfigOf(draft, objectName)?.inheritMapping ?? declared?.inheritMapping ?? false;
  if (!inherits) return {};
  const read = revision.content.read?.objects.find((one) => one.objectName === objectName);
  const fixed = [...(read?.requiredFields ?? []), ...(read?.optionalFields ?? [])].flatMap(
    ({ fieldName, mapToName }) =>
      fieldName === undefined || mapToName === undefined ? [] : [[mapToName, fieldName] as const],
  );
  return { ...Object.fromEntries(fixed), ...readConfigOf(draft, objectName)?.selectedFieldMappings };
}

/**
 * What the builder might write: what it says itself, else a value for each field that the form knows of; nothing where it knows of none.
 * Fields with a default get theirs: they are named only where there is no other, as svc refuses a record that holds nothing.
 */
export function exampleOf(
  written: Written,
  given: ExampleRecords[string] | undefined,
  text: string,
): Record<string, unknown> {
  if (given) return { ...given };
  const { revision, draft, objectName } = written;
  const read = revision.content.read?.objects.find((one) => one.objectName === objectName);
  const mappings = mappingsOf(written);
  const settings = writeConfigOf(draft, objectName)?.selectedFieldSettings ?? {};
  const required = (read?.requiredFields ?? []).flatMap(({ fieldName }) => fieldName ?? []);
  const names = [...new Set([...required, ...Object.keys(mappings), ...Object.keys(settings)])];
  const known = new Map((read ? fieldsOf(read) : []).map((field) => [field.fieldName.toLowerCase(), field]));
  const fieldOf = (name: string) => known.get((memberOf(mappings, name) ?? name).toLowerCase());
  const defaultOf = (name: string): unknown => Object.values(memberOf(settings, name)?.default ?? {})[0];
  const writable = names.filter((name) => fieldOf(name)?.readOnly !== true);
  const open = writable.filter((name) => defaultOf(name) === undefined);
  const shown = open.length > 0 ? open : writable;
  return Object.fromEntries(shown.map((name) => [name, defaultOf(name) ?? valueFor(fieldOf(name), text)]));
}

function valueFor(field: FieldMetadata | undefined, text: string): unknown {
  const [first] = field?.values ?? [];
  if (first) return first.value;
  const values: Partial<Record<FieldMetadata['valueType'], unknown>> = {
    boolean: true,
    int: 1,
    float: 1.5,
    date: '2026-01-31',
    datetime: '2026-01-31T09:00:00Z',
  };
  return values[field?.valueType ?? 'string'] ?? text;
}

/** One field of a write: what is sent of it, where it is sent at all. */
export interface SentValue {
  key: string;
  label: string;
  create: string | undefined;
  update: string | undefined;
  onlyIfEmpty: boolean;
}

type Plan = WritePlanned['plan'];
interface PlannedRecord {
  fields?: Record<string, unknown>;
  ifEmpty?: string[];
}

/** What is sent of the example for a new record and for one that is there. */
export function sentValues(
  written: Written,
  example: Readonly<Record<string, unknown>>,
  { create, update }: { create: Plan; update: Plan },
): SentValue[] {
  const { revision, objectName } = written;
  const labels = labelsOf(revision.content.read?.objects.find((one) => one.objectName === objectName));
  const mappings = mappingsOf(written);
  const [made = {}, changed = {}] = [create.records[0], update.records[0]] as (PlannedRecord | undefined)[];
  const names = [
    ...Object.keys(example).map((name) => memberOf(mappings, name) ?? name),
    ...Object.keys(made.fields ?? {}),
    ...Object.keys(changed.fields ?? {}),
  ];
  const ifEmpty = new Set(changed.ifEmpty);
  return [...new Set(names)]
    .filter((name) => name !== 'id')
    .map((name) => ({
      key: name,
      label: labels.get(name.toLowerCase()) ?? name,
      create: textOf(memberOf(made.fields, name)),
      update: textOf(memberOf(changed.fields, name)),
      onlyIfEmpty: ifEmpty.has(name),
    }));
}

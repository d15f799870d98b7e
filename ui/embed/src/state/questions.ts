import type {
  ConfigContent,
  DynamicMapping,
  FieldMetadata,
  HydratedField,
  HydratedReadObject,
  HydratedRevision,
  ReadObjectConfig,
} from '@svc/client';
import { applyEdit, readConfigOf, writeConfigOf, type ReadEdit } from './draft.ts';
import { memberOf } from './member.ts';
import { freshIn, type OfferedMappings } from './offered.ts';

/** A field of the builder's that the customer maps one of theirs to. */
export interface MappingQuestion {
  mapToName: string;
  label: string;
  prompt: string | undefined;
  isRequired: boolean;
  /** The builder's values, where these are to be mapped, too. */
  values: readonly { value: string; label: string }[];
  /** A field that the manifest proposes. */
  proposed: string | undefined;
}

export function fieldsOf(object: HydratedReadObject): FieldMetadata[] {
  return Object.values(object.allFieldsMetadata ?? {});
}

/** The entries that name no field of the provider: the customer chooses one. */
export function mappingQuestions(
  object: HydratedReadObject,
  offered: readonly DynamicMapping[] = [],
): MappingQuestion[] {
  const ask = (isRequired: boolean) => (field: HydratedField) =>
    field.fieldName === undefined && field.mapToName !== undefined
      ? [questionOf({ ...field, mapToName: field.mapToName }, isRequired)]
      : [];
  return [
    ...(object.requiredFields ?? []).flatMap(ask(true)),
    ...(object.optionalFields ?? []).flatMap(ask(false)),
    ...freshIn(object, offered)
      .filter(({ fieldName }) => fieldName === undefined)
      .map((one) => questionOf(one, false)),
  ];
}

function questionOf(
  one: { mapToName: string; mapToDisplayName?: string; prompt?: string; default?: string } & Pick<
    DynamicMapping,
    'mappedValues'
  >,
  isRequired: boolean,
): MappingQuestion {
  const values = one.mappedValues ?? [];
  return {
    mapToName: one.mapToName,
    label: one.mapToDisplayName ?? one.mapToName,
    prompt: one.prompt,
    isRequired,
    values: values.map(({ mappedValue, mappedDisplayValue }) => ({
      value: mappedValue,
      label: mappedDisplayValue,
    })),
    proposed: one.default,
  };
}

/** Fields that the customer may add, with those that come in any case left out. */
export function choosableFields(object: HydratedReadObject): { fieldName: string; label: string }[] {
  return (object.optionalFields ?? []).flatMap(({ fieldName, displayName, mapToDisplayName }) =>
    fieldName === undefined ? [] : [{ fieldName, label: mapToDisplayName ?? displayName ?? fieldName }],
  );
}

/** Fields that were chosen and that the account does not have any more; none while nobody knows what it has. */
export function vanishedFields(object: HydratedReadObject, config: ReadObjectConfig | undefined): string[] {
  if (object.allFieldsMetadata === undefined) return [];
  const known = new Set(Object.keys(object.allFieldsMetadata).map((name) => name.toLowerCase()));
  const offered = new Set((object.optionalFields ?? []).map(({ fieldName }) => fieldName));
  // A nested field stands in none of them: only svc knows.
  return Object.entries(config?.selectedFields ?? {}).flatMap(([name, isChosen]) =>
    isChosen && !name.startsWith('$') && !offered.has(name) && !known.has(name.toLowerCase()) ? [name] : [],
  );
}

/** Fields that were chosen and that the manifest does not offer: they are read all the same (docs/guides/connect.md). */
export function unofferedFields(
  object: HydratedReadObject,
  config: ReadObjectConfig | undefined,
): { fieldName: string; label: string }[] {
  const { allFieldsMetadata: known, requiredFields = [], optionalFields = [] } = object;
  // All are read then, whichever is chosen.
  if (known === undefined || config?.selectedFieldsAuto === 'all') return [];
  const offered = new Set(
    [...requiredFields, ...optionalFields].map(({ fieldName }) => fieldName?.toLowerCase()),
  );
  return Object.entries(config?.selectedFields ?? {}).flatMap(([fieldName, isChosen]) =>
    isChosen && !offered.has(fieldName.toLowerCase()) && !isGone(object, fieldName)
      ? [{ fieldName, label: memberOf(known, fieldName)?.displayName ?? fieldName }]
      : [],
  );
}

/** A name that is matched to a field, and that nobody asks for. */
export interface LeftMapping {
  mapToName: string;
  label: string;
  field: string;
}

export function unofferedMappings(
  { allFieldsMetadata = {} }: HydratedReadObject,
  questions: readonly MappingQuestion[],
  { selectedFieldMappings = {}, dynamicMappingsInput = [] }: Partial<ReadObjectConfig> = {},
): LeftMapping[] {
  const asked = new Set(questions.map(({ mapToName }) => mapToName));
  return Object.entries(selectedFieldMappings)
    .filter(([mapToName]) => !asked.has(mapToName))
    .map(([mapToName, fieldName]) => ({
      mapToName,
      label: dynamicMappingsInput.find((one) => one.mapToName === mapToName)?.mapToDisplayName ?? mapToName,
      field: memberOf(allFieldsMetadata, fieldName)?.displayName ?? fieldName,
    }));
}

/** A name is matched to nothing any more; the values of its field go with it where nothing else is matched to that. */
export function withoutMapping(draft: ConfigContent, objectName: string, mapToName: string): ConfigContent {
  const { selectedFieldMappings = {}, selectedValueMappings } = readConfigOf(draft, objectName) ?? {};
  const fieldName = memberOf(selectedFieldMappings, mapToName);
  const edited = (now: ConfigContent, set: ReadEdit) =>
    applyEdit(now, { on: 'read', object: objectName, set });
  const left = edited(draft, { kind: 'mapping', mapToName, fieldName: undefined });
  if (fieldName === undefined) return left;
  const isMatched = Object.values(readConfigOf(left, objectName)?.selectedFieldMappings ?? {}).includes(
    fieldName,
  );
  return memberOf(selectedValueMappings, fieldName) !== undefined && !isMatched
    ? edited(left, { kind: 'values', fieldName, values: undefined })
    : left;
}

/** Whether a field is not in the account any more; a nested one stands in no list of fields. */
export function isGone({ allFieldsMetadata }: HydratedReadObject, fieldName: string): boolean {
  const known = allFieldsMetadata && Object.keys(allFieldsMetadata);
  return (
    known !== undefined &&
    !fieldName.startsWith('$') &&
    !known.some((name) => name.toLowerCase() === fieldName.toLowerCase())
  );
}

/** Whether a value is not one of those that a field has any more. */
export function isValueGone(field: FieldMetadata | undefined, value: string): boolean {
  return value !== '' && field?.values !== undefined && !field.values.some((one) => one.value === value);
}

/** The most that a config may choose of one object. */
export const mostChosen = 5_000;

/** Of the names those that can be chosen beside what is chosen, in their order. */
export function choosable(
  names: readonly string[],
  chosen: readonly string[],
  most = mostChosen,
): readonly string[] {
  const all = new Set(chosen);
  const fresh = names.filter((name) => !all.has(name));
  return fresh.slice(0, Math.max(0, most - all.size));
}

const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** The field whose name or label is that of the question, whatever its case and marks; undefined when none or several are. */
export function suggestedField(
  question: MappingQuestion,
  fields: readonly FieldMetadata[],
): string | undefined {
  if (fields.some(({ fieldName }) => fieldName === question.proposed)) return question.proposed;
  const wanted = new Set([folded(question.mapToName), folded(question.label)]);
  const byName = fields.filter(({ fieldName }) => wanted.has(folded(fieldName)));
  const found =
    byName.length > 0 ? byName : fields.filter(({ displayName }) => wanted.has(folded(displayName)));
  return found.length === 1 ? found[0]?.fieldName : undefined;
}

/**
 * Whose values a field's are translated to. A config keeps values by the provider's field: what one question says of
 * them holds for every other one that is matched to it.
 */
function translatorOf(
  questions: readonly MappingQuestion[],
  fieldName: string,
  { selectedFieldMappings = {}, selectedValueMappings = {} }: Partial<ReadObjectConfig> = {},
): MappingQuestion | undefined {
  const translated = new Set(Object.keys(memberOf(selectedValueMappings, fieldName) ?? {}));
  return questions.find(
    ({ mapToName, values }) =>
      memberOf(selectedFieldMappings, mapToName) === fieldName &&
      values.some(({ value }) => translated.has(value)),
  );
}

/** The other question that translates the field which this one is matched to. */
export function translatedBy(
  question: MappingQuestion,
  questions: readonly MappingQuestion[],
  config: ReadObjectConfig | undefined,
): MappingQuestion | undefined {
  const fieldName = memberOf(config?.selectedFieldMappings, question.mapToName);
  const found = fieldName === undefined ? undefined : translatorOf(questions, fieldName, config);
  return found === question ? undefined : found;
}

/** Matches a question to a field, with the values of the same name; the values of another question stay as they are. */
export function withMapping(
  draft: ConfigContent,
  { objectName, allFieldsMetadata }: HydratedReadObject,
  questions: readonly MappingQuestion[],
  { question, fieldName }: { question: MappingQuestion; fieldName: string | undefined },
): ConfigContent {
  const edited = (now: ConfigContent, set: ReadEdit) =>
    applyEdit(now, { on: 'read', object: objectName, set });
  const { mapToName, values } = question;
  const config = readConfigOf(draft, objectName);
  const before = memberOf(config?.selectedFieldMappings, mapToName);
  const others = questions.filter((one) => one !== question);
  const isOwn = (name: string | undefined): name is string =>
    name !== undefined && values.length > 0 && !translatorOf(others, name, config);
  const left = isOwn(before)
    ? edited(draft, { kind: 'values', fieldName: before, values: undefined })
    : withoutMapping(draft, objectName, mapToName);
  const mapped = edited(left, { kind: 'mapping', mapToName, fieldName });
  if (!isOwn(fieldName)) return mapped;
  const suggested = suggestedValues(question, memberOf(allFieldsMetadata, fieldName));
  return edited(mapped, { kind: 'values', fieldName, values: suggested });
}

/**
 * The values of a field once one of the builder's stands for another one of the provider's, or for none (`''`). A value that the builder
 * does not ask for any more would go on being delivered, and stand in the way of another, unseen.
 */
export function withValue(
  mapped: Readonly<Record<string, string>>,
  question: MappingQuestion,
  value: string,
  theirs: string,
): Record<string, string> {
  const asked = new Set(question.values.map((one) => one.value));
  const rest = Object.entries(mapped).filter(([each]) => each !== value && asked.has(each));
  return Object.fromEntries(theirs === '' ? rest : [...rest, [value, theirs]]);
}

/** Each value of the builder's to the provider's of the same name or label. */
export function suggestedValues(
  question: MappingQuestion,
  field: FieldMetadata | undefined,
): Record<string, string> {
  const taken = new Set<string>();
  const pairs = question.values.flatMap(({ value, label }) => {
    const wanted = new Set([folded(value), folded(label)]);
    const found = field?.values?.find(
      (each) =>
        !taken.has(each.value) && (wanted.has(folded(each.value)) || wanted.has(folded(each.displayValue))),
    );
    if (!found) return [];
    taken.add(found.value);
    return [[value, found.value] as const];
  });
  return Object.fromEntries(pairs);
}

/** Where an object is taken up for the first time: what was chosen before, or what the manifest proposes and what has the same name. */
export function withObject(
  draft: ConfigContent,
  object: HydratedReadObject,
  offered: readonly DynamicMapping[] = [],
  before?: ReadObjectConfig,
): ConfigContent {
  const { objectName } = object;
  if (before && !readConfigOf(draft, objectName)) {
    const objects = { ...draft.read?.objects, [objectName]: before };
    return withObject({ ...draft, read: { ...draft.read, objects } }, object, offered);
  }
  if (readConfigOf(draft, objectName))
    return applyEdit(draft, { on: 'read', object: objectName, set: { kind: 'enabled', enabled: true } });
  const fields = fieldsOf(object);
  const started = applyEdit(draft, {
    on: 'read',
    object: objectName,
    set: { kind: 'enabled', enabled: true },
  });
  const questions = mappingQuestions(object, offered);
  return questions.reduce((current, question) => {
    const fieldName = suggestedField(question, fields);
    return fieldName === undefined
      ? current
      : withMapping(current, object, questions, { question, fieldName });
  }, started);
}

/**
 * An object that is not read. Of one that was never saved nothing is left: svc refuses it where nothing is chosen of it, or a mapping is
 * missing. What writes go through is left, where it is whole.
 */
export function withoutObject(
  draft: ConfigContent,
  object: HydratedReadObject,
  {
    revision,
    saved,
    offered = [],
  }: { revision: HydratedRevision; saved: ConfigContent; offered?: readonly DynamicMapping[] | undefined },
): ConfigContent {
  const { objectName } = object;
  const written = revision.content.write?.objects.find((one) => one.objectName === objectName);
  const inherits = writeConfigOf(draft, objectName)?.inheritMapping ?? written?.inheritMapping;
  const chosen = readConfigOf(draft, objectName)?.selectedFieldMappings ?? {};
  const isWhole = mappingQuestions(object, offered).every(
    ({ isRequired, mapToName }) => !isRequired || memberOf(chosen, mapToName) !== undefined,
  );
  const isNeeded = written && inherits && isWhole && Object.keys(chosen).length > 0;
  const off = { on: 'read', object: objectName, set: { kind: 'enabled', enabled: false } } as const;
  return applyEdit(draft, off, isNeeded ? undefined : saved);
}

/** The config to begin with: every object of the integration. */
export function firstDraft(revision: HydratedRevision, offered: OfferedMappings = {}): ConfigContent {
  const { provider, read, write, proxy } = revision.content;
  const empty: ConfigContent = { provider, ...(proxy?.enabled ? { proxy: { enabled: true } } : {}) };
  const readable = (read?.objects ?? []).filter(({ error }) => error === undefined);
  const withReads = readable.reduce(
    (draft, object) => withObject(draft, object, memberOf(offered, object.objectName)),
    empty,
  );
  return (write?.objects ?? [])
    .filter(({ error }) => error === undefined)
    .reduce(
      (draft, { objectName }) =>
        applyEdit(draft, { on: 'write', object: objectName, set: { kind: 'enabled', enabled: true } }),
      withReads,
    );
}

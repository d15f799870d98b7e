import type { FieldMetadata, FieldSetting } from '@svc/client';
import { writeConfigOf } from './draft.ts';
import { mappingsOf, type Written } from './preview.ts';
import { fieldsOf } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import { memberOf } from './member.ts';

/** A field of the provider's that a rule can stand for. */
export interface RuledField {
  /** The name that a rule stands under: the builder's where the field is matched to one, else the provider's. */
  name: string;
  field: FieldMetadata;
  /** What the builder calls it. */
  matchedTo: string | undefined;
}

/** A rule that there is, and what it applies to; `field` is undefined where the account has none of that name. */
export interface Rule {
  name: string;
  settings: FieldSetting;
  label: string;
  field: FieldMetadata | undefined;
  matchedTo: string | undefined;
}

/** Names compare as svc compares them. */
const folded = (name: string): string => name.toLowerCase();

/** What names mean for an object that is written. */
function namesFor({ revision, draft, objectName }: Written, offered: OfferedMappings) {
  const read = revision.content.read?.objects.find((object) => object.objectName === objectName);
  const asked = [
    ...(read?.requiredFields ?? []),
    ...(read?.optionalFields ?? []),
    ...(memberOf(offered, objectName) ?? []),
  ];
  const mapped = Object.entries(mappingsOf({ revision, draft, objectName }));
  return {
    fields: read ? fieldsOf(read) : [],
    mapped,
    targets: new Map(mapped.map(([name, target]) => [folded(name), target])),
    wordFor: (name: string): string => asked.find((one) => one.mapToName === name)?.mapToDisplayName ?? name,
  };
}

/**
 * The fields that rules can stand for, each once: svc reads the name of a rule as the builder's, and as the provider's where the
 * builder has no field of that name (docs/guides/write.md).
 */
export function ruledFields(written: Written, offered: OfferedMappings = {}): RuledField[] {
  const { fields, mapped, targets, wordFor } = namesFor(written, offered);
  return fields.flatMap((field): RuledField[] => {
    if (field.readOnly === true) return [];
    const [name] = mapped.find(([, target]) => folded(target) === folded(field.fieldName)) ?? [];
    if (name !== undefined) return [{ name, field, matchedTo: wordFor(name) }];
    // The name means another field, whatever the provider calls so.
    return targets.has(folded(field.fieldName))
      ? []
      : [{ name: field.fieldName, field, matchedTo: undefined }];
  });
}

/** The rules of a draft, by what they apply to. */
export function rulesOf(written: Written, offered: OfferedMappings = {}): Rule[] {
  const { fields, mapped, targets, wordFor } = namesFor(written, offered);
  const settings = writeConfigOf(written.draft, written.objectName)?.selectedFieldSettings ?? {};
  return Object.entries(settings).map(([name, one]) => {
    const target = targets.get(folded(name));
    const field = fields.find(({ fieldName }) => folded(fieldName) === folded(target ?? name));
    const [own] = mapped.find(([each]) => folded(each) === folded(name)) ?? [];
    return {
      name,
      settings: one,
      label: field?.displayName ?? target ?? name,
      field,
      matchedTo: own === undefined ? undefined : wordFor(own),
    };
  });
}

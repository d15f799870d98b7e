import type { ConfigContent, HydratedReadObject, HydratedRevision } from '@svc/client';
import { readConfigOf } from './draft.ts';
import { isGone, vanishedFields } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import { rulesOf } from './rules.ts';
import type { FormIssue } from './save.ts';

/** Where a draft names fields that the account does not have any more. svc refuses only those that it did not take before. */
export function goneIn(
  draft: ConfigContent,
  revision: HydratedRevision,
  offered: OfferedMappings,
): FormIssue[] {
  return (revision.content.read?.objects ?? []).flatMap((object) =>
    object.allFieldsMetadata === undefined
      ? []
      : goneOfRead(draft, object).concat(goneOfWrite(draft, revision, object, offered)),
  );
}

function goneOfRead(draft: ConfigContent, object: HydratedReadObject): FormIssue[] {
  const at = `read/${object.objectName}`;
  const config = readConfigOf(draft, object.objectName);
  const mapped = Object.entries(config?.selectedFieldMappings ?? {}).map(
    ([mapToName, field]) =>
      ({ at: `${at}/mapping/${mapToName}`, text: 'vanished', values: { field } }) as const,
  );
  const filtered = (config?.fieldFilters ?? []).map(
    ({ fieldName: field }, index) =>
      ({ at: `${at}/filter/${index}`, text: 'filterVanished', values: { field } }) as const,
  );
  const chosen = vanishedFields(object, config);
  return [
    ...[...mapped, ...filtered].filter(({ values }) => isGone(object, values.field)),
    ...(chosen.length > 0
      ? [{ at, text: 'vanishedChosen' as const, values: { fields: chosen.join(', ') } }]
      : []),
  ];
}

function goneOfWrite(
  draft: ConfigContent,
  revision: HydratedRevision,
  { objectName }: HydratedReadObject,
  offered: OfferedMappings,
): FormIssue[] {
  return rulesOf({ revision, draft, objectName }, offered).flatMap(({ name, label, field }) =>
    field
      ? []
      : [
          {
            at: `write/${objectName}/settings/${name}`,
            text: 'ruleVanished' as const,
            values: { field: label },
          },
        ],
  );
}

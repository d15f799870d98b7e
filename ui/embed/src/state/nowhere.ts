import type { ConfigContent, HydratedReadObject, HydratedRevision } from '@svc/client';
import { readConfigOf, writeConfigOf } from './draft.ts';
import { mappingQuestions } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import type { FormIssue } from './save.ts';
import { limitable } from './wizard.ts';
import { memberOf } from './member.ts';

interface Shown {
  draft: ConfigContent;
  revision: HydratedRevision;
  offered: OfferedMappings;
  /** Whether the provider can be asked for records by what they hold. */
  canFilter: boolean;
}

/** Issues that no field of the form shows. */
export function issuesNowhere(issues: readonly FormIssue[], form: Shown): FormIssue[] {
  const { draft, revision } = form;
  const reads = (revision.content.read?.objects ?? []).flatMap((object) => readPlaces(object, form));
  const writes = limitable(draft, revision).flatMap(({ objectName }) => {
    const rules = Object.keys(writeConfigOf(draft, objectName)?.selectedFieldSettings ?? {});
    const at = `write/${objectName}`;
    return [at].concat(rules.map((name) => `${at}/settings/${name}`));
  });
  const shown = new Set(reads.concat(writes));
  return issues.filter(({ at }) => !shown.has(at));
}

function readPlaces(object: HydratedReadObject, { draft, offered, canFilter }: Shown): string[] {
  const { objectName, allFieldsMetadata = {}, error } = object;
  const config = readConfigOf(draft, objectName);
  if (!config || config.disabled || error !== undefined) return [];
  const at = `read/${objectName}`;
  const questions = mappingQuestions(object, memberOf(offered, objectName));
  const values = questions.flatMap((question) => {
    const fieldName = memberOf(config.selectedFieldMappings, question.mapToName);
    const field = fieldName === undefined ? undefined : memberOf(allFieldsMetadata, fieldName);
    return field?.values && question.values.length > 0 ? [`${at}/values/${fieldName}`] : [];
  });
  const mappings = questions.map(({ mapToName }) => `${at}/mapping/${mapToName}`);
  const filters = canFilter ? (config.fieldFilters ?? []) : [];
  return [at, ...mappings, ...values, ...filters.map((_filter, index) => `${at}/filter/${index}`)];
}

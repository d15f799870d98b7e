import type { Issue } from '../../kit/problem.ts';
import {
  associationScheduleMinutes,
  isFieldPath,
  readScheduleMinutes,
  scheduleFault,
} from '../../projects/index.ts';
import type { ManifestReadObject } from '../../projects/schema.ts';
import type { CheckContext } from './context.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { mappingsOf, missingMappings, reversedMappings, theOtherWay } from './mappings.ts';
import { objectNamed, objectNameIssues } from './objects.ts';
import type { ConfigContent, ReadObjectConfig } from './schema.ts';

/** The rules of the read config (§2.4, §7.3). */
export function readIssues(content: ConfigContent, context: CheckContext): Issue[] {
  const { manifest, previous } = context;
  const objects = content.read?.objects ?? {};
  const declared = manifest.read?.objects ?? [];
  const path = `${contentPath}.read.objects`;
  const known = {
    declared: declared.map((object) => object.objectName),
    before: previous?.read?.objects ?? {},
    read: declared,
    place: 'read.objects',
  };
  return [
    ...objectNameIssues(path, objects, known),
    ...Object.entries(objects).flatMap(([key, config]) => {
      const manifestObject = objectNamed(declared, config.objectName);
      return objectIssues(`${path}.${key}`, config, manifestObject, context);
    }),
  ];
}

function objectIssues(
  path: string,
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
  context: CheckContext,
): Issue[] {
  return [
    ...standingObjectIssues(path, config),
    ...fieldIssues(path, config, declared),
    ...mappingIssues(path, config, declared),
    ...associationIssues(`${path}.associations`, config, context),
  ];
}

/** The rules that need nothing but the config; `root` is where it stands. */
export function standingReadIssues(content: ConfigContent, root: string): Issue[] {
  return Object.entries(content.read?.objects ?? {}).flatMap(([key, config]) => {
    const path = `${root}.read.objects.${key}`;
    const ofAssociations = associationScheduleIssues(`${path}.associations`, config.associations?.schedule);
    return standingObjectIssues(path, config).concat(ofAssociations);
  });
}

function standingObjectIssues(path: string, config: ReadObjectConfig): Issue[] {
  return [
    ...scheduleIssues(path, config),
    ...backfillIssues(`${path}.backfill.defaultPeriod`, config),
    ...filterIssues(`${path}.fieldFilters`, config.fieldFilters),
    ...filterIssues(`${path}.backfill.fieldFilters`, config.backfill?.fieldFilters),
    ...fieldPathIssues(path, config),
    ...valueMappingIssues(`${path}.selectedValueMappings`, config),
  ];
}

function scheduleIssues(path: string, { schedule }: ReadObjectConfig): Issue[] {
  const fault = schedule === undefined ? undefined : scheduleFault(schedule, readScheduleMinutes);
  return fault === undefined ? [] : [bodyIssue(`${path}.schedule`, fault.reason, schedule)];
}

function associationIssues(
  path: string,
  { associations }: ReadObjectConfig,
  { provider, abilities }: CheckContext,
): Issue[] {
  if (!associations) return [];
  const { objects = [], schedule } = associations;
  if (!abilities.readAssociations)
    return [bodyIssue(path, `has no effect: the connector of ${provider} reads no associations`)];
  const names = objects.map((name) => name.toLowerCase());
  return [
    ...associationScheduleIssues(path, schedule),
    ...objects.flatMap((name, index) =>
      names.indexOf(name.toLowerCase()) === index
        ? []
        : [bodyIssue(`${path}.objects[${index}]`, 'stands twice', name)],
    ),
  ];
}

function associationScheduleIssues(path: string, schedule: string | undefined): Issue[] {
  const fault = schedule === undefined ? undefined : scheduleFault(schedule, associationScheduleMinutes);
  return fault === undefined ? [] : [bodyIssue(`${path}.schedule`, fault.reason, schedule)];
}

/** `fullHistory: true` wins over days; otherwise days are needed (docs/contract.md, Configuration). */
function backfillIssues(path: string, { backfill }: ReadObjectConfig): Issue[] {
  if (!backfill) return [];
  const { days, fullHistory } = backfill.defaultPeriod;
  if (fullHistory === true || days !== undefined) return [];
  if (fullHistory === false) return [bodyIssue(`${path}.days`, 'is required when fullHistory is false')];
  return [bodyIssue(`${path}.days`, 'is required when fullHistory is not set; set one of the two')];
}

function filterIssues(path: string, filters: ReadObjectConfig['fieldFilters']): Issue[] {
  const seen = new Set<string>();
  return (filters ?? []).flatMap(({ fieldName }, index) => {
    const folded = fieldName.toLowerCase();
    if (seen.has(folded)) {
      return [
        bodyIssue(
          `${path}[${index}].fieldName`,
          'has a second condition; a field may have only one',
          fieldName,
        ),
      ];
    }
    seen.add(folded);
    return [];
  });
}

/** An object without any field would read nothing. */
function fieldIssues(
  path: string,
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
): Issue[] {
  const chosen =
    config.selectedFieldsAuto === 'all' ||
    Object.values(config.selectedFields ?? {}).some(Boolean) ||
    Object.keys(config.selectedFieldMappings ?? {}).length > 0 ||
    (declared?.requiredFields ?? []).length > 0;
  if (chosen) return [];
  const detail = 'needs at least one field here, in selectedFieldMappings, or selectedFieldsAuto "all"';
  return [bodyIssue(`${path}.selectedFields`, detail)];
}

/** A name that starts with `$` is a path into a field's value, in one form only. */
function fieldPathIssues(path: string, config: ReadObjectConfig): Issue[] {
  const names = [
    ...Object.keys(config.selectedFields ?? {}).map((name) => [`selectedFields.${name}`, name] as const),
    ...Object.entries(config.selectedFieldMappings ?? {}).flatMap(([mapToName, fieldName]) => {
      const at = `selectedFieldMappings.${mapToName}`;
      return [[at, mapToName] as const, [at, fieldName] as const];
    }),
  ];
  return names
    .filter(([, name]) => !isFieldPath(name))
    .map(([at, name]) =>
      bodyIssue(`${path}.${at}`, "is not a field path; write each level as in $['a']['b']", name),
    );
}

function mappingIssues(
  path: string,
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
): Issue[] {
  const at = `${path}.selectedFieldMappings`;
  const reversed = new Map(reversedMappings(declared, config).map(({ key, asked }) => [asked, key]));
  const missing = missingMappings(declared?.requiredFields, config).map((mapToName) => {
    const key = reversed.get(mapToName);
    const hint = key === undefined ? '' : `; ${theOtherWay(key, mapToName)}`;
    return bodyIssue(
      `${at}.${mapToName}`,
      `is required: the integration asks the customer to map this field${hint}`,
    );
  });
  return [...missing, ...twiceMapped(at, config, declared), ...twiceOffered(path, config)];
}

/** Two mappings to one name: the second of a pair that differs in case only, or one that the manifest has fixed otherwise. */
function twiceMapped(
  path: string,
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
): Issue[] {
  const fixed = mappingsOf(declared, undefined);
  const byFolded = new Map(
    Object.entries(fixed).map(([mapToName, fieldName]) => [mapToName.toLowerCase(), fieldName]),
  );
  return Object.entries(config.selectedFieldMappings ?? {}).flatMap(([mapToName, fieldName]) => {
    const other = byFolded.get(mapToName.toLowerCase());
    byFolded.set(mapToName.toLowerCase(), fieldName);
    if (other === undefined || (other === fieldName && Object.hasOwn(fixed, mapToName))) return [];
    return [
      bodyIssue(`${path}.${mapToName}`, `is mapped twice: "${other}" has the same mapTo name`, fieldName),
    ];
  });
}

function twiceOffered(path: string, { dynamicMappingsInput }: ReadObjectConfig): Issue[] {
  const seen = new Set<string>();
  return (dynamicMappingsInput ?? []).flatMap(({ mapToName }, index) => {
    const folded = mapToName.toLowerCase();
    if (seen.has(folded)) {
      return [bodyIssue(`${path}.dynamicMappingsInput[${index}].mapToName`, 'is offered twice', mapToName)];
    }
    seen.add(folded);
    return [];
  });
}

/** Value mappings are one to one: no provider value may stand for two delivered ones. */
function valueMappingIssues(path: string, { selectedValueMappings }: ReadObjectConfig): Issue[] {
  return Object.entries(selectedValueMappings ?? {}).flatMap(([fieldName, values]) => {
    const deliveredBy = new Map<string, string>();
    return Object.entries(values).flatMap(([delivered, value]) => {
      const other = deliveredBy.get(value);
      deliveredBy.set(value, delivered);
      if (other === undefined) return [];
      return [
        bodyIssue(
          `${path}.${fieldName}.${delivered}`,
          `is not one to one: "${other}" stands for the same value`,
          value,
        ),
      ];
    });
  });
}

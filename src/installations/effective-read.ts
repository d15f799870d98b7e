import type { ManifestIntegration, ManifestReadObject } from '../projects/schema.ts';
import { entryOf, objectNamed } from './config/objects.ts';
import type { ConfigContent, FieldFilter, ReadObjectConfig } from './config/schema.ts';

/** What is read of an object and under which names it is delivered: the manifest with the config over it. */
export interface EffectiveReadObject {
  /** The provider's name of the object. */
  objectName: string;
  /** The builder's name of it; the provider's where the manifest maps it to none. */
  deliveredAs: string;
  /** Every field that the object has, beside those that are named. */
  all: boolean;
  /** The provider's names of the fields that are delivered under them. */
  fields: string[];
  /** From the builder's names to the provider's. */
  mappings: Record<string, string>;
  /** By the provider's name of a field: from the delivered value to the provider's. */
  valueMappings: Record<string, Record<string, string>>;
  /** The integration declares it; what is configured and no longer declared is not read. */
  declared: boolean;
  /** Five fields, in UTC. Without one it is read on demand only. */
  schedule: string | undefined;
  /** The name or id of the destination. */
  destination: string | undefined;
  disabled: boolean;
  filters: readonly FieldFilter[];
  /** History that is read once, with filters of its own; `days` is missing for all of it. */
  backfill: { days: number | undefined; filters: readonly FieldFilter[] } | undefined;
  /** Whether deleted records are delivered, too. */
  deletions: boolean;
  /** What records are delivered with; missing where nothing is asked for. */
  associations: EffectiveAssociations | undefined;
}

export interface EffectiveAssociations {
  /** The provider's names of the associated objects, each once. */
  objects: readonly string[];
  /** When changes of them alone are looked for, in UTC. Without one they are delivered with the record only. */
  schedule: string | undefined;
}

/** Where an object has a schedule of its own and its associations have none. */
const daily = '0 0 * * *';

/** Required ∪ selected ∪ mapped. A field that the manifest maps is delivered under the builder's name alone. */
export function effectiveReadObject(
  objectName: string,
  declared: ManifestReadObject | undefined,
  config: ReadObjectConfig | undefined,
): EffectiveReadObject {
  const required = (declared?.requiredFields ?? []).flatMap(({ fieldName }) => fieldName ?? []);
  const selected = Object.entries(config?.selectedFields ?? {}).flatMap(([name, isSelected]) =>
    isSelected ? name : [],
  );
  const entries = [...(declared?.requiredFields ?? []), ...(declared?.optionalFields ?? [])];
  const fixed = new Map(
    entries.flatMap(({ fieldName, mapToName }) =>
      fieldName !== undefined && mapToName !== undefined ? [[fieldName.toLowerCase(), mapToName]] : [],
    ),
  );
  const named = [...new Set([...required, ...selected])];
  const mapped = named.flatMap((name) => {
    const mapToName = fixed.get(name.toLowerCase());
    return mapToName === undefined ? [] : [[mapToName, name] as const];
  });
  return {
    objectName,
    deliveredAs: declared?.mapToName ?? objectName,
    all: config?.selectedFieldsAuto === 'all',
    fields: named.filter((name) => !fixed.has(name.toLowerCase())),
    mappings: { ...Object.fromEntries(mapped), ...config?.selectedFieldMappings },
    valueMappings: config?.selectedValueMappings ?? {},
    declared: declared !== undefined,
    schedule: config?.schedule ?? declared?.schedule,
    destination: config?.destination ?? declared?.destination,
    disabled: config?.disabled ?? false,
    filters: config?.fieldFilters ?? [],
    backfill: backfillOf(declared, config),
    deletions: declared?.deletedRecords?.enabled === 'always',
    associations: associationsOf(declared, config),
  };
}

function associationsOf(
  declared: ManifestReadObject | undefined,
  config: ReadObjectConfig | undefined,
): EffectiveAssociations | undefined {
  const objects = config?.associations?.objects ?? declared?.associations?.objects ?? [];
  if (objects.length === 0) return undefined;
  const own = config?.associations?.schedule ?? declared?.associations?.schedule;
  const isScheduled = (config?.schedule ?? declared?.schedule) !== undefined;
  return { objects, schedule: own ?? (isScheduled ? daily : undefined) };
}

/** `fullHistory: true` wins over days. Filters of the backfill stand instead of those of the object. */
function backfillOf(
  declared: ManifestReadObject | undefined,
  config: ReadObjectConfig | undefined,
): EffectiveReadObject['backfill'] {
  const period = (config?.backfill ?? declared?.backfill)?.defaultPeriod;
  if (!period) return undefined;
  const days = period.fullHistory === true ? undefined : (period.days ?? 0);
  return days === 0
    ? undefined
    : { days, filters: config?.backfill?.fieldFilters ?? config?.fieldFilters ?? [] };
}

/** What is declared for an installation, and how it is configured. */
interface Chosen {
  manifest: ManifestIntegration;
  content: ConfigContent;
}

/** Every object that is read for the installation: those of its config, and those that are read for all. */
export function effectiveReadObjects({ manifest, content }: Chosen): EffectiveReadObject[] {
  const declared = manifest.read?.objects ?? [];
  const configured = Object.values(content.read?.objects ?? {});
  const names = [
    ...configured.map(({ objectName }) => objectName),
    ...declared.flatMap(({ objectName, enabled }) => (enabled === 'always' ? [objectName] : [])),
  ];
  const byLower = new Map(names.toReversed().map((name) => [name.toLowerCase(), name]));
  return [...byLower.values()].map((name) => {
    const object = objectNamed(declared, name);
    return effectiveReadObject(object?.objectName ?? name, object, entryOf(content.read?.objects, name)?.[1]);
  });
}

/** The object with the provider's or the builder's name. */
export function effectiveReadObjectNamed(chosen: Chosen, name: string): EffectiveReadObject | undefined {
  const lower = name.toLowerCase();
  const objects = effectiveReadObjects(chosen);
  return (
    objects.find(({ objectName }) => objectName.toLowerCase() === lower) ??
    objects.find(({ deliveredAs }) => deliveredAs.toLowerCase() === lower)
  );
}

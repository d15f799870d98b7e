import { isDeepStrictEqual } from 'node:util';
import type { ManifestIntegration, ManifestReadObject } from '../../projects/schema.ts';
import { effectiveReadObject } from '../effective-read.ts';
import { contentPath } from './issue.ts';
import { entryOf, objectNamed } from './objects.ts';
import type { ConfigContent, ReadObjectConfig } from './schema.ts';

/** A read of one record that shows whether the provider accepts the object, its fields and its filters. */
export interface Sample {
  path: string;
  objectName: string;
  fields: string[];
  filters: NonNullable<ReadObjectConfig['fieldFilters']>;
}

/** What was in force before; absent on create and when the connection is swapped, so that everything is sampled. */
export type Previous = Pick<ConfigContent, 'read'> | undefined;

/** The scheduled and enabled objects that are new, newly scheduled, or read other fields or by other filters than before. */
export function samplesOf(
  content: ConfigContent,
  manifest: ManifestIntegration,
  previous: Previous,
): Sample[] {
  return Object.entries(content.read?.objects ?? {}).flatMap(([key, config]) => {
    const declared = objectNamed(manifest.read?.objects, config.objectName);
    if (!isDue(config, declared)) return [];
    const asked = sampledOf(config, declared);
    const old = entryOf(previous?.read?.objects, config.objectName)?.[1];
    const isUnchanged = old && isDue(old, declared) && isDeepStrictEqual(sampledOf(old, declared), asked);
    return isUnchanged
      ? []
      : [{ path: `${contentPath}.read.objects.${key}`, objectName: config.objectName, ...asked }];
  });
}

function isDue(config: ReadObjectConfig, declared: ManifestReadObject | undefined): boolean {
  return config.disabled !== true && (config.schedule ?? declared?.schedule) !== undefined;
}

function sampledOf(
  config: ReadObjectConfig,
  declared: ManifestReadObject | undefined,
): Pick<Sample, 'fields' | 'filters'> {
  const { fields, mappings } = effectiveReadObject(config.objectName, declared, config);
  const names = new Set([...fields, ...Object.values(mappings)]);
  return { fields: [...names].toSorted(), filters: config.fieldFilters ?? [] };
}

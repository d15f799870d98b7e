import type { ManifestReadObject } from '../projects/schema.ts';
import type { ReadObjectConfig } from './config/schema.ts';

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
}

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
  };
}

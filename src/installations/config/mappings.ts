import type { ManifestReadObject } from '../../projects/schema.ts';
import type { ReadObjectConfig } from './schema.ts';

type FieldEntries = ManifestReadObject['requiredFields'];

/** From the builder's names to the provider's: those that the manifest fixes, and those that the customer chose. */
export function mappingsOf(
  declared: ManifestReadObject | undefined,
  config: ReadObjectConfig | undefined,
): Record<string, string> {
  const fixed = entriesOf(declared).flatMap(({ fieldName, mapToName }) =>
    fieldName !== undefined && mapToName !== undefined ? [[mapToName, fieldName] as const] : [],
  );
  return { ...Object.fromEntries(fixed), ...config?.selectedFieldMappings };
}

/** The mapTo names which the customer was asked to map and has not. */
export function missingMappings(entries: FieldEntries, config: ReadObjectConfig | undefined): string[] {
  const chosen = config?.selectedFieldMappings ?? {};
  return (entries ?? []).flatMap(({ fieldName, mapToName }) =>
    fieldName === undefined && mapToName !== undefined && !Object.hasOwn(chosen, mapToName)
      ? [mapToName]
      : [],
  );
}

/** Every mapTo name, required or optional, without a field of the provider; writes leave it out. */
export function unsetMappings(
  declared: ManifestReadObject | undefined,
  config: ReadObjectConfig | undefined,
): string[] {
  return missingMappings(entriesOf(declared), config);
}

function entriesOf(declared: ManifestReadObject | undefined): NonNullable<FieldEntries> {
  return [...(declared?.requiredFields ?? []), ...(declared?.optionalFields ?? [])];
}

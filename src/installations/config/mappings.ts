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

/** Every name that the manifest maps something to, whoever chooses the field. */
export function mapToNames(declared: ManifestReadObject | undefined): string[] {
  return entriesOf(declared).flatMap(({ mapToName }) => mapToName ?? []);
}

/** The fields that the manifest asks for. */
export function entriesOf(declared: ManifestReadObject | undefined): NonNullable<FieldEntries> {
  return [...(declared?.requiredFields ?? []), ...(declared?.optionalFields ?? [])];
}

/**
 * Mappings that stand the wrong way round, it seems: the integration asks for a field under the name that stands as the provider's,
 * nothing else is mapped to it, and it does not ask for the other name.
 */
export function reversedMappings(
  declared: ManifestReadObject | undefined,
  { selectedFieldMappings = {}, dynamicMappingsInput = [] }: ReadObjectConfig,
): { key: string; asked: string }[] {
  const asked = new Set([...entriesOf(declared), ...dynamicMappingsInput].map(({ mapToName }) => mapToName));
  return Object.entries(selectedFieldMappings).flatMap(([key, fieldName]) =>
    asked.has(fieldName) && !asked.has(key) && !Object.hasOwn(selectedFieldMappings, fieldName)
      ? [{ key, asked: fieldName }]
      : [],
  );
}

/** What a mapping means that stands the wrong way round. */
export function theOtherWay(key: string, value: string): string {
  const meant = JSON.stringify({ [value]: key });
  return `a mapping has your name first and the provider's behind it: did you mean ${meant}?`;
}

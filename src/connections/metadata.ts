import type { ConnectionPlace, Provider } from '../providers/index.ts';
import type { ProviderMetadata } from './schema.ts';

/** The known metadata with what a token response adds; undefined when nothing changes, so that nothing is written. */
export function mergeMetadata(
  known: ProviderMetadata,
  found: ProviderMetadata,
): ProviderMetadata | undefined {
  const isNew = Object.entries(found).some(([name, item]) => known[name]?.value !== item.value);
  return isNew ? { ...known, ...found } : undefined;
}

/** What decides the provider's address for a connection. The instance URL is kept among the metadata, under its own name. */
export function placeOf(
  provider: Provider,
  workspaceRef: string | null | undefined,
  metadata: ProviderMetadata,
): ConnectionPlace {
  const values = Object.fromEntries(Object.entries(metadata).map(([name, { value }]) => [name, value]));
  const field = provider.instanceUrl?.tokenField;
  return { workspaceRef, metadata: values, instanceUrl: field === undefined ? undefined : values[field] };
}

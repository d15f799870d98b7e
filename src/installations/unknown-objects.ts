import { nearest } from '../kit/nearest.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { Connector, ProviderClient } from '../providers/index.ts';

/** An object that the provider does not have for a connection, and why that is believed. */
export interface UnknownObject {
  objectName: string;
  /** Ends with the name that was probably meant, if there is one. */
  message: string;
}

/** What an integration reads and writes. */
export function declaredNames({ read, write }: ManifestIntegration): string[] {
  return [...(read?.objects ?? []), ...(write?.objects ?? [])].map(({ objectName }) => objectName);
}

/** Those of the names that the provider says it does not have. What it cannot be asked now is taken for known. */
export async function findUnknownObjects(
  { describe }: Connector,
  client: ProviderClient,
  names: readonly string[],
): Promise<UnknownObject[]> {
  if (!describe || names.length === 0) return [];
  const known = await describe.names(client);
  const folded = new Set(known.map((name) => name.toLowerCase()));
  // The list may lack what has other names there, too: each of these is asked for.
  const doubtful = [...new Set(names)].filter((name) => !folded.has(name.toLowerCase()));
  const answers = await Promise.all(doubtful.map((name) => describe.describe(client, name)));
  return doubtful.flatMap((objectName, at) => {
    const answer = answers[at];
    if (!answer || !('failure' in answer)) return [];
    const { category, message } = answer.failure;
    if (category !== 'notFound' && category !== 'validation') return [];
    const meant = nearest(objectName, known);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return [{ objectName, message: `the provider has no object "${objectName}" (${message})${hint}` }];
  });
}

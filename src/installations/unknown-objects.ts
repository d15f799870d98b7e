import { nearest } from '../kit/nearest.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { Connector, ProviderClient } from '../providers/index.ts';

/** An object that the provider does not have, and the provider's reason. */
export interface UnknownObject {
  objectName: string;
  /** Ends with the name that was probably meant, if there is one. */
  message: string;
}

/** What an integration reads and writes. */
export function declaredNames({ read, write }: ManifestIntegration): string[] {
  return [...(read?.objects ?? []), ...(write?.objects ?? [])].map(({ objectName }) => objectName);
}

/** The names that the provider does not have. A name that cannot be checked now counts as known. */
export async function findUnknownObjects(
  { describe }: Connector,
  client: ProviderClient,
  names: readonly string[],
): Promise<UnknownObject[]> {
  if (!describe || names.length === 0) return [];
  const standard = new Set(describe.standard.map((name) => name.toLowerCase()));
  const doubtful = [...new Set(names)].filter((name) => !standard.has(name.toLowerCase()));
  const answers = await Promise.all(
    doubtful.map(async (objectName) => ({ objectName, answer: await describe.describe(client, objectName) })),
  );
  const absent = answers.flatMap(({ objectName, answer }) =>
    'failure' in answer && ['notFound', 'validation'].includes(answer.failure.category)
      ? [{ objectName, message: answer.failure.message }]
      : [],
  );
  const known = absent.length > 0 ? await describe.names(client) : [];
  return absent.map(({ objectName, message }) => {
    const meant = nearest(objectName, known);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return { objectName, message: `the provider has no object "${objectName}" (${message})${hint}` };
  });
}

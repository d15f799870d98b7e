import type { Finding, Path } from '../finding.ts';
import { failed } from '../finding.ts';

/** What the rules need to know of a provider. */
export interface ProviderFacts {
  modules: readonly string[];
  defaultModule?: string;
  reads: boolean;
  writes: boolean;
  readsAssociations: boolean;
}

export interface ManifestCatalog {
  find(provider: string): ProviderFacts | undefined;
  names(): readonly string[];
}

export interface RuleContext {
  catalog: ManifestCatalog;
  /** Whether everything at and below the path has its right shape, so that a rule may read it. */
  sound: (path: Path) => boolean;
}

export interface Placed<Value> {
  value: Value;
  path: Path;
}

/** The objects of an action block that have their right shape, each with its path. */
export function soundObjects<Value extends object>(
  block: { objects: Value[] } | undefined,
  path: Path,
  { sound }: RuleContext,
): Placed<Value>[] {
  return placedObjects(block, path).filter((placed) => sound(placed.path));
}

/** All objects of an action block, each with its path: a rule may read the keys of it that are sound. */
export function placedObjects<Value extends object>(
  block: { objects: Value[] } | undefined,
  path: Path,
): Placed<Value>[] {
  const objects: unknown = block?.objects;
  if (!Array.isArray(objects)) return [];
  return (objects as Value[])
    .map((value, index) => ({ value, path: [...path, 'objects', index] }))
    .filter(({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** An object stands once in an action; providers differ in whether case counts, so it does not. */
export function duplicateObjects(objects: readonly Placed<{ objectName: string }>[]): Finding[] {
  const seen = new Set<string>();
  return objects.flatMap(({ value, path }) => {
    const key = value.objectName.toLowerCase();
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [
      failed(
        'object-duplicate',
        [...path, 'objectName'],
        `the object ${value.objectName} stands twice in this action`,
      ),
    ];
  });
}

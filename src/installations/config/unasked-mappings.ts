import type { ManifestIntegration } from '../../projects/schema.ts';
import { nearest } from '../../kit/nearest.ts';
import { maxIssues } from '../../kit/problem.ts';
import { contentPath } from './issue.ts';
import { mapToNames, reversedMappings, theOtherWay, unsetMappings } from './mappings.ts';
import { objectNamed } from './objects.ts';
import type { ConfigContent } from './schema.ts';

/** Mappings to names that nobody asks for: what the customer chose is delivered, and under a name that the builder may not expect. */
export function unaskedMappings(
  content: ConfigContent,
  manifest: ManifestIntegration,
): { message: string }[] {
  return Object.entries(content.read?.objects ?? {})
    .flatMap(([key, config]) => {
      const declared = objectNamed(manifest.read?.objects, config.objectName);
      const asked = mapToNames(declared);
      // An integration that asks for none leaves the names to whoever writes the config.
      if (asked.length === 0) return [];
      const offered = (config.dynamicMappingsInput ?? []).map(({ mapToName }) => mapToName);
      const known = new Set([...asked, ...offered]);
      const open = unsetMappings(declared, config);
      const reversed = new Map(reversedMappings(declared, config).map((one) => [one.key, one.asked]));
      return Object.keys(config.selectedFieldMappings ?? {})
        .filter((name) => !known.has(name))
        .map((name) => ({
          path: `${contentPath}.read.objects.${key}.selectedFieldMappings.${name}`,
          name,
          open,
          known,
          reversed: reversed.get(name),
        }));
    })
    .slice(0, maxIssues)
    .map(({ path, name, open, known, reversed }) => {
      const meant = nearest(name, open) ?? nearest(name, known) ?? (open.length === 1 ? open[0] : undefined);
      const other = reversed === undefined ? '' : `; ${theOtherWay(name, reversed)}`;
      const hint = meant === undefined ? other : `; did you mean "${meant}"?`;
      return { message: `${path}: the integration asks for no mapping "${name}"${hint}` };
    });
}

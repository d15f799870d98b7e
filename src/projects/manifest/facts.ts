import { abilitiesOf, type Catalog } from '../../providers/index.ts';
import type { ManifestCatalog } from './rules/context.ts';

/** What the manifest's rules ask the catalogue. */
export function factsOf(catalog: Catalog): ManifestCatalog {
  return {
    names: () => catalog.list().map(({ name }) => name),
    find(name) {
      const provider = catalog.find(name);
      if (!provider) return undefined;
      const { modules = {}, defaultModule } = provider;
      const abilities = abilitiesOf(name);
      return {
        modules: Object.keys(modules),
        ...(defaultModule === undefined ? {} : { defaultModule }),
        reads: abilities.read,
        writes: abilities.write.length > 0,
        readsAssociations: abilities.readAssociations,
      };
    },
  };
}

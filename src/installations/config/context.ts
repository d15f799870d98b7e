import type { Abilities } from '../../providers/index.ts';
import type { ManifestIntegration } from '../../projects/schema.ts';
import type { ConfigContent } from './schema.ts';

/** What a config is checked against. */
export interface CheckContext {
  /** The provider of the integration. */
  provider: string;
  /** The integration in its latest revision. */
  manifest: ManifestIntegration;
  abilities: Pick<Abilities, 'ifEmpty' | 'delete' | 'readAssociations'>;
  /** The content in force before a change: what it names may stay after a later revision dropped it. */
  previous?: ConfigContent | undefined;
}

import { withRetained, type RetainedObject } from '../projects/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import { entryOf } from './config/objects.ts';
import type { ConfigContent } from './config/schema.ts';

/**
 * What the integration declares for one installation: its latest revision, and what earlier ones declared and the
 * installation had, be it from before that was taken away or by its config.
 */
export function manifestFor(
  declared: { content: ManifestIntegration; retained: readonly RetainedObject[] },
  installation: { created_at: Date; content: ConfigContent },
): ManifestIntegration {
  const { created_at: createdAt, content } = installation;
  return withRetained(declared, ({ action, object, at }) => {
    const isOlder = createdAt.getTime() <= Date.parse(at);
    return (
      isOlder || entryOf<{ objectName: string }>(content[action]?.objects, object.objectName) !== undefined
    );
  });
}

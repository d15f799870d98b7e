import { warned, type Finding, type Path } from '../finding.ts';
import type { ManifestIntegration } from '../schema.ts';
import { duplicateObjects, soundObjects, type RuleContext } from './context.ts';

export function checkWrite(integration: ManifestIntegration, path: Path, context: RuleContext): Finding[] {
  const objects = soundObjects(integration.write, [...path, 'write'], context);
  const read = new Set(
    soundObjects(integration.read, [...path, 'read'], context).map(({ value }) =>
      value.objectName.toLowerCase(),
    ),
  );
  const unmapped = objects
    .filter(({ value }) => value.inheritMapping === true && !read.has(value.objectName.toLowerCase()))
    .map(({ value, path: at }) =>
      warned(
        'inherit-mapping-without-read',
        [...at, 'inheritMapping'],
        `has no effect: ${value.objectName} is not read, so there are no mappings to inherit`,
      ),
    );
  return [...duplicateObjects(objects), ...unmapped];
}

import { warned, type Finding, type Path } from '../finding.ts';
import type { ManifestIntegration } from '../schema.ts';
import { duplicateObjects, soundObjects, type RuleContext } from './context.ts';

export function checkWrite(integration: ManifestIntegration, path: Path, context: RuleContext): Finding[] {
  const objects = soundObjects(integration.write, [...path, 'write'], context);
  const read = soundObjects(integration.read, [...path, 'read'], context);
  const names = new Set(read.map(({ value }) => value.objectName.toLowerCase()));
  // Of an entry with a fault it is not known what it reads.
  const isWhole = read.length === (integration.read?.objects?.length ?? 0);
  const unmapped = objects
    .filter(
      ({ value }) => isWhole && value.inheritMapping === true && !names.has(value.objectName.toLowerCase()),
    )
    .map(({ value, path: at }) => {
      const name = value.objectName;
      const source = read.find((other) => other.value.mapToName?.toLowerCase() === name.toLowerCase());
      const why = source
        ? `${name} is what ${source.value.objectName} is called once it is read: write it by \`objectName: ${source.value.objectName}\``
        : `${name} is not read, so there are no mappings to inherit`;
      return warned('inherit-mapping-without-read', [...at, 'inheritMapping'], `has no effect: ${why}`);
    });
  return [...duplicateObjects(objects), ...unmapped];
}

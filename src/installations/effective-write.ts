import type { ManifestIntegration } from '../projects/schema.ts';
import { unsetMappings } from './config/mappings.ts';
import { inheritedMappings, inheritsMapping } from './config/named-fields.ts';
import { entryOf, objectNamed } from './config/objects.ts';
import type { ConfigContent, FieldSetting, ValueDefault } from './config/schema.ts';

/** One object of the write action as it holds now: the latest revision overlaid by the installation's config. */
export interface EffectiveWriteObject {
  objectName: string;
  /** The manifest declares it: it may be written at all. */
  declared: boolean;
  inConfig: boolean;
  inheritMapping: boolean;
  deletionEnabled: boolean;
  fieldSettings: Readonly<Record<string, FieldSetting>>;
  valueDefaults: Readonly<Record<string, ValueDefault>>;
  /** The builder's names to the provider's; empty unless the mapping is inherited. */
  mappings: Readonly<Record<string, string>>;
  /** The builder's names that the customer left unmapped: writes leave them out. */
  unsetMappings: readonly string[];
}

/** An object in the manifest but not in the config may be created and updated, not deleted (docs/contract.md, Write). */
export function effectiveWriteObject(
  { manifest, content }: { manifest: ManifestIntegration; content: ConfigContent },
  objectName: string,
): EffectiveWriteObject {
  const config = entryOf(content.write?.objects, objectName)?.[1];
  const inheritMapping = inheritsMapping(objectName, content, manifest);
  const readObject = objectNamed(manifest.read?.objects, objectName);
  const declared = objectNamed(manifest.write?.objects, objectName);
  const readConfig = entryOf(content.read?.objects, objectName)?.[1];
  return {
    // The manifest's spelling, so that the ledger, the turns and the provider see one name.
    objectName: declared?.objectName ?? objectName,
    declared: declared !== undefined,
    inConfig: config !== undefined,
    inheritMapping,
    deletionEnabled: config?.deletionSettings?.enabled ?? false,
    fieldSettings: config?.selectedFieldSettings ?? {},
    valueDefaults: config?.selectedValueDefaults ?? {},
    mappings: inheritedMappings(objectName, content, manifest),
    unsetMappings: inheritMapping ? unsetMappings(readObject, readConfig) : [],
  };
}

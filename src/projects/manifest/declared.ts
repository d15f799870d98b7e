import type { Path } from './finding.ts';
import type { ManifestIntegration, ManifestReadObject } from './schema.ts';

/** A field of the provider that an integration names, and the builder's name of it. */
export interface DeclaredField {
  path: Path;
  fieldName: string;
  mapToName?: string | undefined;
}

/** An object of the provider that an integration names, with its fields; each path starts at the integration. */
export interface DeclaredObject {
  path: Path;
  objectName: string;
  fields: DeclaredField[];
}

/** Every object and field of the provider that an integration names. */
export function declaredObjects({ read, write }: ManifestIntegration): DeclaredObject[] {
  const reads = (read?.objects ?? []).map((object, at) => {
    const path = ['read', 'objects', at];
    const { objectName } = object;
    return { path: [...path, 'objectName'], objectName, fields: fieldsOf(path, object) };
  });
  const associated = (read?.objects ?? []).flatMap(({ associations }, at) =>
    (associations?.objects ?? []).map((objectName, index) => {
      const path = ['read', 'objects', at, 'associations', 'objects', index];
      return { path, objectName, fields: [] };
    }),
  );
  const writes = (write?.objects ?? []).map(({ objectName }, at) => {
    const path = ['write', 'objects', at, 'objectName'];
    return { path, objectName, fields: [] };
  });
  return [...reads, ...associated, ...writes];
}

function fieldsOf(path: Path, object: ManifestReadObject): DeclaredObject['fields'] {
  return (['requiredFields', 'optionalFields'] as const).flatMap((list) =>
    (object[list] ?? []).flatMap((field, at) =>
      (['fieldName', 'default'] as const).flatMap((key) => {
        const fieldName = field[key];
        const { mapToName } = field;
        return fieldName === undefined ? [] : [{ path: [...path, list, at, key], fieldName, mapToName }];
      }),
    ),
  );
}

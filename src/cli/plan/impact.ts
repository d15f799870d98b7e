import type { Installation, Integration, ManifestField } from '../../../ui/client/src/index.ts';
import type { ManifestIntegration } from '../../projects/manifest/schema.ts';

/** What a deploy does to installations that are live: how many of them, and an example. */
export interface Impact {
  /** `stops-reading` and `stops-writing` only where the deploy is destructive. */
  kind: 'stops-reading' | 'stops-writing' | 'loses-field' | 'needs-mapping' | 'lacks-scope';
  /** The object, and the field of it, or the scope. */
  what: string;
  count: number;
  groups: string[];
}

const mostGroups = 5;

/** Counts what an installation loses or lacks once the manifest is in force. */
export class ImpactCount {
  installations = 0;
  readonly #found = new Map<string, Impact>();
  readonly #before: Integration['latestRevision']['content'];
  readonly #after: ManifestIntegration;
  readonly #destructive: boolean;

  constructor(
    before: Integration['latestRevision']['content'],
    after: ManifestIntegration,
    { destructive }: { destructive: boolean },
  ) {
    this.#before = before;
    this.#after = after;
    this.#destructive = destructive;
  }

  add(installation: Installation): void {
    this.installations += 1;
    const { groupRef } = installation.group;
    for (const [kind, what] of this.#of(installation)) {
      const key = `${kind} ${what}`;
      const found = this.#found.get(key) ?? { kind, what, count: 0, groups: [] };
      this.#found.set(key, found);
      found.count += 1;
      if (found.groups.length < mostGroups) found.groups.push(groupRef);
    }
  }

  found(): Impact[] {
    return [...this.#found.values()];
  }

  *#of({ config, connection }: Installation): Generator<[Impact['kind'], string]> {
    const { read = { objects: {} }, write = { objects: {} } } = config.content;
    for (const scope of connection?.missingScopes ?? []) yield ['lacks-scope', scope];
    if (this.#destructive) {
      const kept = namesOf(this.#after.read?.objects);
      for (const { objectName, enabled } of this.#before.read?.objects ?? [])
        if (!kept.has(objectName) && (enabled === 'always' || read.objects?.[objectName]))
          yield ['stops-reading', objectName];
      const written = namesOf(this.#after.write?.objects);
      for (const { objectName } of this.#before.write?.objects ?? [])
        if (!written.has(objectName) && write.objects) yield ['stops-writing', objectName];
    }
    for (const object of this.#after.read?.objects ?? []) {
      const { objectName } = object;
      const configured = read.objects?.[objectName];
      if (!configured) continue;
      const before = this.#before.read?.objects.find((one) => one.objectName === objectName);
      const { selectedFields = {}, selectedFieldMappings = {} } = configured;
      for (const name of lostFields(before ?? { objectName }, object))
        if (selectedFields[name] || selectedFieldMappings[name] !== undefined || isRequired(before, name))
          yield ['loses-field', `${objectName}.${name}`];
      for (const { fieldName, mapToName, default: first } of object.requiredFields ?? [])
        if (fieldName === undefined && mapToName !== undefined && first === undefined)
          if (selectedFieldMappings[mapToName] === undefined)
            yield ['needs-mapping', `${objectName}.${mapToName}`];
    }
  }
}

interface ReadObject {
  objectName: string;
  requiredFields?: ManifestField[];
  optionalFields?: ManifestField[];
  optionalFieldsAuto?: 'all';
}

/** Fields of before, by the names that a config chooses them under, that are offered no more. */
function lostFields(before: ReadObject, after: ReadObject): string[] {
  const kept = new Set(fieldsOf(after).map(nameOf));
  return fieldsOf(before)
    .filter(({ fieldName }) => after.optionalFieldsAuto !== 'all' || fieldName === undefined)
    .map(nameOf)
    .filter((name) => !kept.has(name));
}

function isRequired(object: ReadObject | undefined, name: string): boolean {
  return (object?.requiredFields ?? []).some((field) => nameOf(field) === name);
}

function fieldsOf({ requiredFields = [], optionalFields = [] }: ReadObject): ManifestField[] {
  return [...requiredFields, ...optionalFields];
}

function nameOf({ fieldName, mapToName }: ManifestField): string {
  return fieldName ?? mapToName ?? '';
}

function namesOf(objects: readonly { objectName: string }[] = []): Set<string> {
  return new Set(objects.map(({ objectName }) => objectName));
}

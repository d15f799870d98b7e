import { failed, warned, type Finding, type Path } from '../finding.ts';
import type { ManifestField, ManifestReadObject } from '../schema.ts';

// Each segment stands in brackets and single quotes; the dot form is not accepted.
const nestedPath = /^\$(?:\['(?:[^'\\]|\\.)+'\])+$/;

/** Whether the name is a plain one or a well-formed nested path such as `$['a']['b']`. */
export function isFieldPath(name: string): boolean {
  return !name.startsWith('$') || nestedPath.test(name);
}

const fieldLists = ['requiredFields', 'optionalFields'] as const;

export function checkFields(object: ManifestReadObject, path: Path): Finding[] {
  const placed = fieldLists.flatMap((list) =>
    (object[list] ?? []).map((field, index) => ({ field, path: [...path, list, index] as Path })),
  );
  return [...placed.flatMap(({ field, path: at }) => checkField(field, at)), ...checkRepeated(placed)];
}

function checkField(field: ManifestField, path: Path): Finding[] {
  const { fieldName, mapToName, prompt } = field;
  if (fieldName === undefined && mapToName === undefined) {
    return [
      failed('field-entry', path, 'needs `fieldName`, or `mapToName` for a field that the end user chooses'),
    ];
  }
  const malformed = (['fieldName', 'mapToName', 'default'] as const)
    .filter((key) => !isFieldPath(field[key] ?? ''))
    .map((key) =>
      failed(
        'field-path',
        [...path, key],
        'is not a field path',
        "Write each level in brackets and quotes: $['a']['b']",
      ),
    );
  if (fieldName === undefined || (prompt === undefined && field.default === undefined)) return malformed;
  const idle = prompt === undefined ? 'default' : 'prompt';
  return [
    ...malformed,
    warned(
      'field-prompt-unused',
      [...path, idle],
      'has no effect: the field is fixed by `fieldName`, so nobody is asked',
    ),
  ];
}

function checkRepeated(placed: readonly { field: ManifestField; path: Path }[]): Finding[] {
  const targets = new Set<string>();
  const sources = new Set<string>();
  return placed.flatMap(({ field, path }): Finding[] => {
    const { fieldName, mapToName } = field;
    if (mapToName !== undefined && seenBefore(targets, mapToName)) {
      return [
        failed('map-to-name-duplicate', [...path, 'mapToName'], `two fields are mapped to ${mapToName}`),
      ];
    }
    if (fieldName !== undefined && mapToName === undefined && seenBefore(sources, fieldName)) {
      return [warned('field-duplicate', [...path, 'fieldName'], `the field ${fieldName} stands twice`)];
    }
    return [];
  });
}

function seenBefore(seen: Set<string>, name: string): boolean {
  const key = name.toLowerCase();
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
}

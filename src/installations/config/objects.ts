import { maxIssues, type Issue } from '../../kit/problem.ts';
import { bodyIssue } from './issue.ts';
import { nearest } from '../../kit/nearest.ts';

interface Named {
  objectName: string;
}

/** The config of an object with its key. Keys are free; `objectName` decides (specification 2.4, 2.5). */
export function entryOf<Config extends Named>(
  objects: Readonly<Record<string, Config>> | undefined,
  objectName: string,
): [key: string, config: Config] | undefined {
  return Object.entries(objects ?? {}).find(([, config]) => config.objectName === objectName);
}

/** Objects that the manifest does not declare for the action, and objects configured twice. */
export function objectNameIssues(
  path: string,
  objects: Readonly<Record<string, Named>>,
  known: { declared: readonly string[]; before: Readonly<Record<string, Named>>; place: string },
): Issue[] {
  let unknown = 0;
  const before = new Set(Object.values(known.before).map((config) => config.objectName));
  const seen = new Map<string, string>();
  return Object.entries(objects).flatMap(([key, { objectName }]) => {
    const at = `${path}.${key}.objectName`;
    const twin = seen.get(objectName);
    seen.set(objectName, key);
    if (twin !== undefined)
      return [bodyIssue(at, `is configured twice: "${twin}" names the same object`, objectName)];
    if (known.declared.includes(objectName) || before.has(objectName)) return [];
    unknown += 1;
    const meant = unknown > maxIssues ? undefined : nearest(objectName, known.declared);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return [bodyIssue(at, `is not declared under ${known.place} of the integration${hint}`, objectName)];
  });
}

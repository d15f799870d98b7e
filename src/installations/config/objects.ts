import { maxIssues, type Issue } from '../../kit/problem.ts';
import { bodyIssue } from './issue.ts';
import { nearest } from '../../kit/nearest.ts';

interface Named {
  objectName: string;
}

/** Providers' object names differ in more than case, so `Contacts` and `contacts` are one object. */
const nameKey = (objectName: string): string => objectName.toLowerCase();

/** The object of a manifest that has this name. */
export function objectNamed<One extends Named>(
  objects: readonly One[] | undefined,
  objectName: string,
): One | undefined {
  return objects?.find((object) => nameKey(object.objectName) === nameKey(objectName));
}

/** The config of an object with its key. Keys are free; `objectName` decides (§2.4, §2.5). */
export function entryOf<Config extends Named>(
  objects: Readonly<Record<string, Config>> | undefined,
  objectName: string,
): [key: string, config: Config] | undefined {
  const wanted = nameKey(objectName);
  return Object.entries(objects ?? {}).find(([, config]) => nameKey(config.objectName) === wanted);
}

/** Objects that the manifest does not declare for the action, and objects configured twice. */
export function objectNameIssues(
  path: string,
  objects: Readonly<Record<string, Named>>,
  known: { declared: readonly string[]; before: Readonly<Record<string, Named>>; place: string },
): Issue[] {
  let unknown = 0;
  const before = new Set(Object.values(known.before).map((config) => nameKey(config.objectName)));
  const declared = new Set(known.declared.map(nameKey));
  const seen = new Map<string, string>();
  return Object.entries(objects).flatMap(([key, { objectName }]) => {
    const at = `${path}.${key}.objectName`;
    const twin = seen.get(nameKey(objectName));
    seen.set(nameKey(objectName), key);
    if (twin !== undefined)
      return [bodyIssue(at, `is configured twice: "${twin}" names the same object`, objectName)];
    if (declared.has(nameKey(objectName)) || before.has(nameKey(objectName))) return [];
    unknown += 1;
    const meant = unknown > maxIssues ? undefined : nearest(objectName, known.declared);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return [bodyIssue(at, `is not declared under ${known.place} of the integration${hint}`, objectName)];
  });
}

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

/** The one of these objects that is meant by the builder's own name of what is read of it, and the words for that. */
export function ownNameOf(
  read: readonly (Named & { mapToName?: string })[] | undefined,
  names: readonly string[],
  own: string,
): { objectName: string; words: string } | undefined {
  const objectName = read?.find(({ mapToName }) => nameKey(mapToName ?? '') === nameKey(own))?.objectName;
  if (objectName === undefined || !names.some((name) => nameKey(name) === nameKey(objectName)))
    return undefined;
  return { objectName, words: `${own} is your name of ${objectName}, for what is read` };
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
  known: {
    declared: readonly string[];
    read: Parameters<typeof ownNameOf>[0];
    before: Readonly<Record<string, Named>>;
    place: string;
  },
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
    const own = ownNameOf(known.read, known.declared, objectName);
    const meant = own || unknown > maxIssues ? undefined : nearest(objectName, known.declared);
    const guess = meant === undefined ? '' : `; did you mean "${meant}"?`;
    const hint = own ? `: ${own.words}; use "${own.objectName}"` : guess;
    return [bodyIssue(at, `is not declared under ${known.place} of the integration${hint}`, objectName)];
  });
}

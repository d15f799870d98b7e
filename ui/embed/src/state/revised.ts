import type { ConfigContent, HydratedReadObject, HydratedRevision, HydratedWriteObject } from '@svc/client';
import { readConfigOf } from './draft.ts';
import { withObject } from './questions.ts';
import type { OfferedMappings } from './offered.ts';
import { declaredIn, readAlways } from './reading.ts';
import type { FormIssue } from './save.ts';
import { memberOf } from './member.ts';

/** What a form is shown while its revision changes, and while objects of the account cannot be described. */

type Described = HydratedReadObject | HydratedWriteObject;

const objectsIn = ({ content }: HydratedRevision): Described[] => [
  ...(content.read?.objects ?? []),
  ...(content.write?.objects ?? []),
];

/** Why nothing of the account can be chosen from: no object of it could be described. */
export function failureOf(revision: HydratedRevision): string | undefined {
  const objects = objectsIn(revision);
  const failed = objects.flatMap(({ error }) => error ?? []);
  return objects.length > 0 && failed.length === objects.length ? failed[0] : undefined;
}

/** An object that could not be described, and why. It may be there the next time: svc does not say. */
export interface Unloaded {
  objectName: string;
  error: string;
}

export function unloadedIn(revision: HydratedRevision): Unloaded[] {
  const failed = objectsIn(revision).flatMap(({ objectName, error }) =>
    error === undefined ? [] : [[objectName.toLowerCase(), { objectName, error }] as const],
  );
  return [...new Map(failed).values()];
}

/** Those of them that nobody would read with this draft, and somebody might want to be read. */
export function leftOut(draft: ConfigContent, revision: HydratedRevision): string[] {
  const always = readAlways(revision);
  return unloadedIn(revision)
    .map(({ objectName }) => objectName)
    .filter((name) => declaredIn(revision, 'read', name) && !readConfigOf(draft, name))
    .filter((name) => !always.includes(name));
}

/** What was described once stays so where the same revision is asked for again: a provider that is busy may fail at another object each time. */
export function withDescribed(now: HydratedRevision, before: HydratedRevision | undefined): HydratedRevision {
  if (before?.id !== now.id || unloadedIn(now).length === 0) return now;
  const known = <One extends Described>(objects: readonly One[], earlier: readonly One[] = []): One[] =>
    objects.map((object) => {
      const same = earlier.find(({ objectName }) => objectName === object.objectName);
      return object.error === undefined || same?.error !== undefined ? object : (same ?? object);
    });
  const { read, write } = now.content;
  return {
    ...now,
    content: {
      ...now.content,
      ...(read ? { read: { objects: known(read.objects, before.content.read?.objects) } } : {}),
      ...(write ? { write: { objects: known(write.objects, before.content.write?.objects) } } : {}),
    },
  };
}

/** The objects that nobody could decide about since the form was opened: they were never described. */
export function undecidedAfter(before: readonly string[] | undefined, now: HydratedRevision): string[] {
  const failed = unloadedIn(now).map(({ objectName }) => objectName);
  return before ? before.filter((name) => failed.includes(name)) : failed;
}

/**
 * What is entered of an installation that is not made yet, upon the revision of now. An object that the manifest no longer has is nobody's
 * yet: it is left out. One that nobody could decide about is taken up as at the beginning.
 */
export function revised(
  draft: ConfigContent,
  revision: HydratedRevision,
  undecided: readonly string[],
  offered: OfferedMappings = {},
): ConfigContent {
  const arrived = (revision.content.read?.objects ?? []).filter(
    ({ objectName, error }) =>
      error === undefined && undecided.includes(objectName) && !readConfigOf(draft, objectName),
  );
  return arrived.reduce(
    (now, object) => withObject(now, object, memberOf(offered, object.objectName)),
    withoutGone(draft, revision),
  );
}

/** The draft itself where nothing of it is gone. */
function withoutGone(draft: ConfigContent, revision: HydratedRevision): ConfigContent {
  const kept = (action: 'read' | 'write') => {
    const all = Object.entries(draft[action]?.objects ?? {});
    const declared = all.filter(([, { objectName }]) => declaredIn(revision, action, objectName));
    return declared.length === all.length ? {} : { [action]: { objects: Object.fromEntries(declared) } };
  };
  const changed: Partial<ConfigContent> = { ...kept('read'), ...kept('write') };
  return Object.keys(changed).length === 0 ? draft : { ...draft, ...changed };
}

/** What was refused of an object that is left out is settled. */
export function issuesLeft(issues: readonly FormIssue[], revision: HydratedRevision): readonly FormIssue[] {
  return issues.filter(({ at }) => {
    const [action, name = ''] = at.split('/');
    return (action !== 'read' && action !== 'write') || declaredIn(revision, action, name);
  });
}

/** What svc found first, as by a newer revision, and the form finds by now, too, is told in the words of the form. */
export function worded(issues: readonly FormIssue[], known: readonly FormIssue[]): readonly FormIssue[] {
  const all = issues.map((issue) =>
    typeof issue.text === 'string' ? issue : (known.find(({ at }) => at === issue.at) ?? issue),
  );
  // Of several that svc says of one place, the words of the form stand once.
  return [...new Set(all)];
}

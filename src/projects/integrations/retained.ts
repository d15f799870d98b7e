import { Type, type Static } from 'typebox';
import { ManifestReadObject, ManifestWriteObject, type ManifestIntegration } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const time = Type.String({ format: 'date-time' });

/** An object that a deploy took out of the manifest, as it was last; what was installed before `at` goes on with it. */
export const RetainedObject = Type.Union([
  Type.Object({ at: time, action: Type.Literal('read'), object: ManifestReadObject }, closed),
  Type.Object({ at: time, action: Type.Literal('write'), object: ManifestWriteObject }, closed),
]);
export type RetainedObject = Static<typeof RetainedObject>;

/** An integration as its latest revision has it, with what earlier ones had. */
export interface Declared {
  content: ManifestIntegration;
  retained: readonly RetainedObject[];
}

/** What a deploy leaves to the installations that exist, and what they lose or may lose by it. Pure. */
export function retain(
  before: Declared,
  after: ManifestIntegration,
  { destructive, at }: { destructive: boolean; at: string },
): { retained: RetainedObject[]; takenAway: RetainedObject[] } {
  const current = new Set(objectsOf(after, at).map(keyOf));
  const isGone = (one: RetainedObject): boolean => !current.has(keyOf(one));
  const taken = objectsOf(before.content, at).filter(isGone);
  const earlier = before.retained.filter(isGone);
  return destructive
    ? { retained: [], takenAway: [...earlier, ...taken] }
    : { retained: [...earlier, ...taken], takenAway: taken };
}

/** The manifest with the retained objects for which `keeps` holds. */
export function withRetained(
  { content, retained }: Declared,
  keeps: (object: RetainedObject) => boolean,
): ManifestIntegration {
  const kept = retained.filter(keeps);
  if (kept.length === 0) return content;
  const read = kept.flatMap((one) => (one.action === 'read' ? [one.object] : []));
  const write = kept.flatMap((one) => (one.action === 'write' ? [one.object] : []));
  return {
    ...content,
    ...(read.length > 0 ? { read: { objects: [...(content.read?.objects ?? []), ...read] } } : {}),
    ...(write.length > 0 ? { write: { objects: [...(content.write?.objects ?? []), ...write] } } : {}),
  };
}

/** As differences are shown: `write.contacts`. */
export function labelOf({ action, object }: RetainedObject): string {
  return `${action}.${object.objectName}`;
}

// The case of an object's name does not count.
function keyOf(one: RetainedObject): string {
  return labelOf(one).toLowerCase();
}

function objectsOf({ read, write }: ManifestIntegration, at: string): RetainedObject[] {
  return [
    ...(read?.objects ?? []).map((object) => ({ at, action: 'read' as const, object })),
    ...(write?.objects ?? []).map((object) => ({ at, action: 'write' as const, object })),
  ];
}

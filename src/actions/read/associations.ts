/** What records are associated with: as it is delivered, and how a change of it is found. */
import { createHash } from 'node:crypto';
import type { EffectiveReadObject, Target } from '../../installations/index.ts';
import type { AssociatedRecord } from '../../providers/index.ts';

/** An object whose records others are associated with, by the provider's name and by the one it is delivered under. */
export interface AssociatedObject {
  objectName: string;
  deliveredAs: string;
}

/** Of one record, for each of the objects in their order. */
export type Associated = readonly (readonly AssociatedRecord[])[];

/** The builder's name of an object is the one under which it is read. */
export function associatedObjects(
  { manifest }: Pick<Target, 'manifest'>,
  { associations }: Pick<EffectiveReadObject, 'associations'>,
): AssociatedObject[] {
  return (associations?.objects ?? []).map((objectName) => {
    const lower = objectName.toLowerCase();
    const declared = manifest.read?.objects.find((one) => one.objectName.toLowerCase() === lower);
    return { objectName, deliveredAs: declared?.mapToName ?? objectName };
  });
}

/** As they are delivered; a record that has none shows so by an empty list. */
export function shapeAssociations(
  objects: readonly AssociatedObject[],
  associated: Associated,
): Record<string, unknown> {
  const shaped = new Map<string, unknown[]>();
  for (const [at, { objectName, deliveredAs }] of objects.entries()) {
    const records = sorted(associated[at] ?? []).map(({ id, types }) => ({
      id,
      objectName: deliveredAs,
      rawObjectName: objectName,
      providerAssociationMetadata: { associationTypes: types },
    }));
    shaped.set(deliveredAs, [...(shaped.get(deliveredAs) ?? []), ...records]);
  }
  return Object.fromEntries(shaped);
}

const nameBytes = 4;
const contentBytes = 8;
const digestBytes = nameBytes + contentBytes;

/** For each object a hash of its name and of what there is, whatever the order that the provider tells it in. */
export function digestsOf(objects: readonly AssociatedObject[], associated: Associated): Buffer {
  return Buffer.concat(
    objects.flatMap(({ objectName }, at) => {
      const content = sorted(associated[at] ?? []).map(({ id, types }) => [
        id,
        types.map((type) => JSON.stringify(type)).toSorted(),
      ]);
      return [hashOf(objectName.toLowerCase(), nameBytes), hashOf(JSON.stringify(content), contentBytes)];
    }),
  );
}

/** Whether something is different with an object that both know; one that is new says nothing of a change. */
export function isChanged(before: Buffer, after: Buffer): boolean {
  const known = contentsIn(before);
  return [...contentsIn(after)].some(([name, content]) => (known.get(name) ?? content) !== content);
}

function contentsIn(digests: Buffer): Map<string, string> {
  const contents = new Map<string, string>();
  for (let at = 0; at + digestBytes <= digests.length; at += digestBytes) {
    const content = digests.toString('latin1', at + nameBytes, at + digestBytes);
    contents.set(digests.toString('latin1', at, at + nameBytes), content);
  }
  return contents;
}

function hashOf(text: string, bytes: number): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, bytes);
}

/** By id; ids of digits in the order of their numbers. */
function sorted(records: readonly AssociatedRecord[]): AssociatedRecord[] {
  return records.toSorted(
    (one, other) => one.id.length - other.id.length || (one.id < other.id ? -1 : Number(one.id > other.id)),
  );
}

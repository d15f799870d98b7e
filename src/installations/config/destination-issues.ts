import type { Issue } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import type { CheckContext } from './context.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { entryOf, objectNamed } from './objects.ts';
import type { ConfigContent } from './schema.ts';

interface Sent {
  objectName: string;
  destination?: string | undefined;
}

/**
 * Where records go is the builder's to say: a person's token names the destination of the manifest, the one in force, or none.
 */
export function destinationIssues(
  content: ConfigContent,
  { manifest, previous }: Pick<CheckContext, 'manifest' | 'previous'>,
  { consumerRef }: Pick<Principal, 'consumerRef'>,
): Issue[] {
  if (consumerRef === undefined) return [];
  return (['read', 'subscribe'] as const).flatMap((action) => {
    const declared: readonly Sent[] | undefined = manifest[action]?.objects;
    return Object.entries<Sent>(content[action]?.objects ?? {}).flatMap(
      ([key, { objectName, destination }]) => {
        const meant = objectNamed(declared, objectName)?.destination;
        const inForce = entryOf<Sent>(previous?.[action]?.objects, objectName)?.[1].destination;
        if (destination === undefined || destination === meant || destination === inForce) return [];
        const detail = `cannot be chosen with a front-end token; ${meant === undefined ? 'leave it out' : `it is "${meant}"`}`;
        return [bodyIssue(`${contentPath}.${action}.objects.${key}.destination`, detail, destination)];
      },
    );
  });
}

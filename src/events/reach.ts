import { problem } from '../kit/problem.ts';

declare const made: unique symbol;

/**
 * What somebody may see of a project: the things of one group, or of all when there is none. Stores of what belongs to groups
 * take it, so that none can be asked without it; only the functions here make one.
 */
export interface Reach {
  readonly [made]: true;
  readonly projectId: string;
  readonly groupRef: string | undefined;
  /** The person, for a token: what that person may change is less than what the group sees. */
  readonly consumerRef: string | undefined;
}

interface Confined {
  projectId: string;
  groupRef?: string;
  consumerRef?: string;
}

/** What a caller reaches. */
export function confine({ projectId, groupRef, consumerRef }: Confined): Reach {
  return { projectId, groupRef, consumerRef } as Reach;
}

/** For work that nobody asks for, or that looks over all groups. */
export function wholeProject(projectId: string): Reach {
  return confine({ projectId });
}

/** Whether things of the group exist for the caller. */
export function reaches({ groupRef: own }: { groupRef?: string | undefined }, groupRef: string): boolean {
  return own === undefined || own === groupRef;
}

/** Throws not-found for another group than the caller's. */
export function assertReaches(reach: Reach, groupRef: string): void {
  if (reaches(reach, groupRef)) return;
  throw problem('not-found', { detail: `There is no group ${groupRef} for these credentials.` });
}

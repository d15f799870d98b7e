import { queryOptions, useQuery } from '@tanstack/react-query';
import { SvcError, type Membership, type SignedIn } from '@svc/client';
import { answer, api, isSignedOut } from './api.ts';
import { queryClient } from './query.ts';

/** Who is signed in; a 401 where nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => answer(api.GET('/v1/session')),
  staleTime: 60_000,
});

export const isNobody = (error: Error | null): boolean => error instanceof SvcError && error.status === 401;

/** After signing in: from now on it is this person. What another one saw is forgotten. */
export async function enter(signedIn: SignedIn): Promise<void> {
  const before = queryClient.getQueryData(sessionQuery.queryKey);
  if (before && before.person.id !== signedIn.person.id) queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, signedIn);
  isSignedOut.set(false);
  // A link that was accepted is over; to look at it again would only say so.
  await queryClient.invalidateQueries({ predicate: ({ queryKey: [first] }) => first !== 'invitation' });
}

/** Ends the session and everything that this page knows. */
export async function leave(): Promise<void> {
  await answer(api.DELETE('/v1/session'));
  // Anew: nothing of it stays in memory.
  location.assign('/sign-in');
}

/** What roles may do beyond seeing, by the scopes that stand for it (`src/people/roles.ts`). */
const allowing = {
  /** Retry, resolve, cancel, replay, pause, run now. */
  remediate: ['full', 'develop', 'remediate'],
  /** Change what the project is made of. */
  develop: ['full', 'develop'],
  /** People, and keys that may do everything. */
  own: ['full'],
} as const;
export type Ability = keyof typeof allowing;

const whyNot: Record<Ability, string> = {
  remediate: 'Your role sees, and changes nothing',
  develop: 'This takes the role of a developer or an owner',
  own: 'This takes the role of an owner',
};

/** What the person is in the project; by its name or its id. */
export function useMembership(project: string): Membership | undefined {
  const { data } = useQuery(sessionQuery);
  const asked = project.toLowerCase();
  return data?.projects.find(({ id, name }) => id === asked || name === asked);
}

/** Why the person may not do it in the project, for `disabledFor` of a button; nothing when they may. */
export function useNotAllowed(project: string, ability: Ability): string | undefined {
  const membership = useMembership(project);
  const scopes: readonly string[] = allowing[ability];
  return membership?.scopes.some((scope) => scopes.includes(scope)) ? undefined : whyNot[ability];
}

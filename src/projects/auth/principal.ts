import { problem, refuse } from '../../kit/problem.ts';
import { instanceScopes, type Scope } from '../schema.ts';

/** Who calls: an API key, or an end user's browser with a token that the builder signed. */
export interface Principal {
  kind: 'apiKey' | 'jwt';
  /** The id of the API key, the `kid` of the token, or for a token that this service made the id of the key or link behind it. */
  keyId: string;
  projectId: string;
  projectName: string;
  scopes: readonly Scope[];
  /** When present, the caller sees this group only. */
  groupRef?: string;
  /** The end user, for a token. */
  consumerRef?: string;
}

/** What a route declares: the scopes that reach it beside `full`; `[]` is `full` only, and `full` does not reach what takes an instance scope. */
export type RouteScopes = 'public' | readonly Exclude<Scope, 'full'>[];

const concernInstance: ReadonlySet<Scope> = new Set(instanceScopes);

/** The scopes that reach a route. */
export function reachingScopes(scopes: readonly Scope[]): Scope[] {
  return scopes.some((scope) => concernInstance.has(scope)) ? [...scopes] : ['full', ...scopes];
}

/** Throws `forbidden` unless one of the principal's scopes reaches the route. */
export function authorize(principal: Principal, scopes: RouteScopes): void {
  if (scopes === 'public') return;
  const reaching = reachingScopes(scopes);
  if (reaching.some((scope) => principal.scopes.includes(scope))) return;
  throw problem('forbidden', {
    detail: `This needs a key with one of the scopes ${reaching.join(', ')}; yours has ${principal.scopes.join(', ') || 'none'}.`,
  });
}

/** Only an operator gives instance scopes to a key, and never to one that is confined to a group. */
export function refuseGrant(
  principal: Principal,
  scopes: readonly Scope[],
  groupRef: string | undefined,
): void {
  const granted = scopes.filter((scope) => concernInstance.has(scope));
  if (granted.length === 0) return;
  if (!principal.scopes.includes('operator')) {
    throw problem('forbidden', {
      detail: `Only a key with the scope operator gives the scope ${granted.join(', ')}, which concerns all projects.`,
    });
  }
  if (groupRef === undefined) return;
  const detail = `must not hold ${granted.join(', ')} in a key that is confined to a group`;
  throw refuse([{ in: 'body', name: 'scopes', detail }]);
}

/** Throws `forbidden` for a caller confined to a group, where the route concerns the whole project. */
export function refuseConfined({ groupRef }: Principal): void {
  if (groupRef === undefined) return;
  throw problem('forbidden', {
    detail: `The credentials reach only the group ${groupRef}; this concerns the whole project.`,
    remedy: 'Use a key without a groupRef.',
  });
}

/** The principal's own project by id or name; any other is not found. */
export function resolveProject(principal: Principal, idOrName: string): { id: string; name: string } {
  const { projectId: id, projectName: name } = principal;
  if (idOrName.toLowerCase() === id || idOrName.toLowerCase() === name.toLowerCase()) return { id, name };
  throw problem('not-found', {
    detail: `There is no project ${idOrName} for these credentials; they belong to the project ${name}.`,
  });
}

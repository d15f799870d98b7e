import { problem, refuse } from '../../kit/problem.ts';
import { instanceScopes, type Scope } from '../schema.ts';

/** Who calls: an API key, an end user's browser with a token that the builder signed, or a person who is signed in. */
export interface Principal {
  kind: 'apiKey' | 'jwt' | 'person';
  /**
   * The id of the API key, the `kid` of the token, or for a token that this service made the id of the key or link behind it;
   * of a person their id.
   */
  keyId: string;
  /** Empty for a person whose request names no project. */
  projectId: string;
  projectName: string;
  scopes: readonly Scope[];
  /** When present, the caller sees this group only. */
  groupRef?: string;
  /** The end user, for a token. */
  consumerRef?: string;
  person?: SignedInPerson;
}

export interface SignedInPerson {
  id: string;
  email: string;
  sessionId: string;
  /** Of which they are a member. */
  projectIds: readonly string[];
}

/**
 * What a route declares. Scopes that reach it: `[]` is what `full` and `develop` alone reach; they reach all but what takes an
 * instance scope, and `develop` not what is `owned`. `signedIn`: whatever person.
 */
export type RouteScopes = 'public' | 'signedIn' | 'owned' | readonly DeclaredScope[];
type DeclaredScope = Exclude<Scope, 'full' | 'develop' | 'view'>;

const concernInstance: ReadonlySet<Scope> = new Set(instanceScopes);

/** The scopes that reach a route by a method: what is shown to a reader is shown to who may only look. */
export function reachingScopes(scopes: readonly DeclaredScope[] | 'owned', method?: string): Scope[] {
  if (scopes === 'owned') return ['full'];
  if (scopes.some((scope) => concernInstance.has(scope))) return [...scopes];
  const isShown = (method === 'GET' || method === 'HEAD') && scopes.includes('read');
  return ['full', 'develop', ...(isShown ? (['view'] as const) : []), ...scopes];
}

/** Throws `forbidden` unless one of the principal's scopes reaches the route. */
export function authorize(principal: Principal, scopes: RouteScopes, method?: string): void {
  if (scopes === 'public') return;
  if (scopes === 'signedIn') {
    if (principal.person) return;
    throw problem('forbidden', {
      detail: 'This concerns a person who is signed in; a key or token is nobody.',
      remedy: 'Sign in with a browser.',
    });
  }
  const reaching = reachingScopes(scopes, method);
  if (reaching.some((scope) => principal.scopes.includes(scope))) return;
  const held = principal.scopes.join(', ') || 'none';
  throw problem(
    'forbidden',
    principal.person
      ? {
          detail: `This needs one of the scopes ${reaching.join(', ')}; your role has ${held}.`,
          remedy: 'An owner of the project can give you another role.',
        }
      : { detail: `This needs a key with one of the scopes ${reaching.join(', ')}; yours has ${held}.` },
  );
}

/** Throws `forbidden` unless the caller may see secrets of the project: everybody who may change them. */
export function requireSecrets(principal: Principal, detail: string): void {
  if (!maySeeSecrets(principal)) throw problem('forbidden', { detail });
}

export function maySeeSecrets({ scopes }: Principal): boolean {
  return scopes.includes('full') || scopes.includes('develop');
}

/**
 * Only an operator gives instance scopes to a key, and never to one that is confined to a group; only `full` gives `full`, and
 * changes a key that has it. `held`: what the key has already.
 */
export function refuseGrant(
  principal: Principal,
  scopes: readonly Scope[],
  groupRef: string | undefined,
  held: readonly Scope[] = [],
): void {
  if ([...scopes, ...held].includes('full') && !principal.scopes.includes('full'))
    throw problem('forbidden', {
      detail: 'Only who has the scope full makes, changes and deletes keys with the scope full.',
    });
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

/** Throws `forbidden` for who is no operator, where a key holds an instance scope. */
export function refuseUnlessOperator(principal: Principal, held: readonly Scope[]): void {
  const concerned = held.filter((scope) => concernInstance.has(scope));
  if (concerned.length === 0 || principal.scopes.includes('operator')) return;
  throw problem('forbidden', {
    detail: `Only a key with the scope operator changes a key with the scope ${concerned.join(', ')}, which concerns all projects.`,
    remedy: 'Without that scope the key can be deactivated, made to expire sooner, or deleted.',
  });
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
  const wanted = idOrName.toLowerCase();
  if (id !== '' && (wanted === id || wanted === name.toLowerCase())) return { id, name };
  throw problem('not-found', {
    detail: `There is no project ${idOrName} for these credentials; they belong to the project ${name}.`,
  });
}

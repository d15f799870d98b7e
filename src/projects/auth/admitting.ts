import type { ApiKeys } from '../keys/api-keys.ts';
import { bringsCredential, credentialOf, refuseTokenAsKey, type Headers } from './credential.ts';
import type { FailureGuard, Origin } from './failures.ts';
import type { Principal } from './principal.ts';
import { isVisit, type Visit, type VisitHook } from './visit.ts';

export interface Admitting {
  /** Who sent the request; the cookie of a browser counts where `visit` is given. Throws unauthenticated, and too-many-failures. */
  authenticate(headers: Headers, from: Origin, visit?: Visit): Promise<Principal>;
  /** The principal of an API key alone, for surfaces that take no other credential. Throws as {@link authenticate}. */
  authenticateKey(key: string, from: Origin): Promise<Principal>;
  /** The same from the cache, without waiting; undefined means: ask {@link authenticateKey}. */
  peekPrincipal(key: string): Principal | undefined;
}

interface Authenticator {
  authenticate(text: string): Promise<Principal>;
}

/** By the kind of the credential. */
interface Authenticators extends Record<
  Exclude<ReturnType<typeof credentialOf>['kind'], 'apiKey'>,
  Authenticator
> {
  apiKey: ApiKeys;
  hooks: { visit?: VisitHook };
}

export function admitting(by: Authenticators, guard: FailureGuard): Admitting {
  const { apiKey } = by;
  const guarded = async <Found>(found: Promise<Found>, from: Origin): Promise<Found> => {
    try {
      return await found;
    } catch (error) {
      throw guard.judge(error, from);
    }
  };
  /** A request without a credential is nobody's guess, and is not counted. */
  const credentialIn = (headers: Headers, from: Origin): ReturnType<typeof credentialOf> => {
    try {
      return credentialOf(headers);
    } catch (error) {
      throw bringsCredential(headers) ? guard.judge(error, from) : error;
    }
  };
  const keyAlone = async (key: string): Promise<Principal> => {
    refuseTokenAsKey(key);
    return apiKey.authenticate(key);
  };
  return {
    authenticate: async (headers, from, visit) => {
      const visitor = visit && isVisit(visit.headers) ? by.hooks.visit?.(visit) : undefined;
      const principal = visitor && (await guarded(visitor, from));
      if (principal) return principal;
      const credential = credentialIn(headers, from);
      return guarded(by[credential.kind].authenticate(credential.text), from);
    },
    authenticateKey: (key, from) => guarded(keyAlone(key), from),
    peekPrincipal: (key) => apiKey.peek(key),
  };
}

import { refuse } from '../../kit/problem.ts';
import type { Vault } from '../../kit/vault.ts';
import { hashOf, newToken } from '../browser.ts';
import type { Expected } from './provider.ts';

/** How long signing in elsewhere may take. */
const lifeSeconds = 600;

/** What is kept of a sign-in that is under way: sealed, in a cookie of the browser that began it. */
export interface Flow extends Expected {
  /** A path of ours. */
  returnTo: string;
  endsAt: number;
}

export const newFlow = (returnTo: string): Flow => ({
  state: newToken(),
  nonce: newToken(),
  verifier: newToken(),
  returnTo,
  endsAt: Date.now() + lifeSeconds * 1000,
});

/** The cookies of flows, each with a name of its own, so that several may go on at once. */
export interface FlowCookies {
  keep(flow: Flow): string;
  /** The flow of the state, where this browser began it and it is not over. */
  read(state: string, cookies: string | undefined): Flow | undefined;
  clear(state: string): string;
}

export function flowCookies(publicUrl: string, vault: Vault): FlowCookies {
  const isSecure = publicUrl.startsWith('https:');
  // Lax: the way back from the provider is a navigation from another site.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const digest = (state: string): string => hashOf(state).toString('hex');
  const nameOf = (state: string): string =>
    `${isSecure ? '__Host-' : ''}svc-oidc-${digest(state).slice(0, 24)}`;
  const placeOf = (state: string): string => `oidc/${digest(state)}`;
  return {
    keep: (flow) =>
      `${nameOf(flow.state)}=${vault.seal(flow, placeOf(flow.state)).toString('base64url')}; Max-Age=${lifeSeconds}; ${attributes}`,
    read(state, cookies = '') {
      const start = `${nameOf(state)}=`;
      const found = cookies
        .split(';')
        .map((each) => each.trim())
        .find((each) => each.startsWith(start));
      if (found === undefined) return undefined;
      const flow = opened(vault, found.slice(start.length), placeOf(state));
      return flow?.state === state && flow.endsAt > Date.now() ? flow : undefined;
    },
    clear: (state) => `${nameOf(state)}=; Max-Age=0; ${attributes}`,
  };
}

/** A cookie that we did not seal, or sealed under a key that is gone, is none. */
function opened(vault: Vault, text: string, place: string): Flow | undefined {
  try {
    return vault.open(Buffer.from(text, 'base64url'), place) as Flow;
  } catch {
    return undefined;
  }
}

/** Where to lead afterwards. Throws invalid-request for what is not a path of ours. */
export function ownPath(publicUrl: string, returnTo = '/'): string {
  const url = URL.parse(returnTo, publicUrl);
  if (!/^\/(?![/\\])/.test(returnTo) || url?.origin !== new URL(publicUrl).origin)
    throw refuse([{ in: 'query', name: 'returnTo', detail: 'must be a path of svc, such as /projects' }]);
  return url.pathname + url.search + url.hash;
}

import { hashState, stateLifeSeconds } from './state.ts';

/** Where the link of a flow leads: to our own origin first, to mark the browser that opens it. */
export const startPath = '/callbacks/v1/oauth/start';

/**
 * The cookie that ties a flow to the browser that opened its link. Only this origin can set it, and a name for each flow
 * lets several go on at once. Without HTTPS, as in development, browsers take neither the prefix nor `Secure`.
 */
interface Mark {
  name: string;
  attributes: string;
}

function markOf(publicUrl: string, state: string): Mark {
  const isSecure = publicUrl.startsWith('https:');
  return {
    name: `${isSecure ? '__Host-' : ''}svc-oauth-${hashState(state).toString('hex', 0, 12)}`,
    // Lax: the way back from the provider is a navigation from another site.
    attributes: `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  };
}

/** The link to hand out. */
export function startLink(publicUrl: string, state: string): string {
  return `${publicUrl}${startPath}?flow=${encodeURIComponent(state)}`;
}

/** The Set-Cookie of the browser that opens the link; the secret stands in no address. */
export function marking(publicUrl: string, state: string, secret: string): string {
  const { name, attributes } = markOf(publicUrl, state);
  return `${name}=${secret}; Max-Age=${stateLifeSeconds}; ${attributes}`;
}

/** The Set-Cookie of the browser whose flow is over. */
export function unmarking(publicUrl: string, state: string): string {
  const { name, attributes } = markOf(publicUrl, state);
  return `${name}=; Max-Age=0; ${attributes}`;
}

/** The secret of the flow in a header Cookie; undefined in that of a browser that did not open the link. */
export function secretIn(publicUrl: string, state: string, cookies: string | undefined): string | undefined {
  const { name } = markOf(publicUrl, state);
  const found = (cookies ?? '').split(';').find((cookie) => cookie.trim().startsWith(`${name}=`));
  return found?.trim().slice(name.length + 1);
}

import type { IncomingHttpHeaders } from 'node:http';
import { createHash, randomBytes } from 'node:crypto';
import { problem } from '../kit/problem.ts';

/** A secret of ours in a link or a cookie. */
export const newToken = (): string => randomBytes(32).toString('base64url');
/** What is stored of one: it is random and long, so that a fast hash is enough. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The cookie of a session. Without HTTPS, as in development, browsers take neither the prefix nor `Secure`. */
export interface SessionCookie {
  read(headers: IncomingHttpHeaders): string | undefined;
  /** The Set-Cookie that keeps the token. */
  keep(token: string, seconds: number): string;
  clear(): string;
}

export function cookieOf(publicUrl: string): SessionCookie {
  const isSecure = publicUrl.startsWith('https:');
  const name = `${isSecure ? '__Host-' : ''}svc-session`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ cookie = '' }) => {
      const own = cookie.split(';').map((each) => each.trim());
      return own.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    },
    keep: (token, seconds) => `${name}=${token}; Max-Age=${seconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

/** Whether a page of this service makes the request, as far as the browser says. */
export type Provenance = 'own' | 'foreign' | 'unsaid';

export function provenanceOf(headers: IncomingHttpHeaders, publicUrl: string): Provenance {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site === 'same-origin') return 'own';
  // A page of a neighbouring host is on the same site.
  if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? 'foreign' : 'unsaid';
  return origin === new URL(publicUrl).origin ? 'own' : 'foreign';
}

/** Throws cross-origin unless a page of this service makes the request. */
export function assertOwnPage(headers: IncomingHttpHeaders, publicUrl: string): void {
  const provenance = provenanceOf(headers, publicUrl);
  if (provenance === 'own') return;
  throw problem('cross-origin', {
    detail:
      provenance === 'unsaid'
        ? 'The request says neither in Sec-Fetch-Site nor in Origin that a page of this service makes it.'
        : `The request comes from ${(headers.origin ?? 'another site').slice(0, 200)}; the pages of this service are at ${new URL(publicUrl).origin}.`,
  });
}

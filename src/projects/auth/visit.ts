import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from './principal.ts';

/** A request that carries neither a key nor a token. */
export interface Visit {
  headers: IncomingHttpHeaders;
  method: string;
  /** The project that the path names. */
  project: string | undefined;
  /** Nobody asks for it by hand: it keeps no session from resting. */
  isUnattended: boolean;
}

/** Who stands behind the cookie of a browser; undefined where there is none. */
export type VisitHook = (visit: Visit) => Promise<Principal | undefined>;

export function isVisit(headers: IncomingHttpHeaders): boolean {
  return headers['x-api-key'] === undefined && headers.authorization === undefined;
}

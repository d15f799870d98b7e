import { problem, type Problem } from '../../kit/problem.ts';
import {
  baseUrlOf,
  credentialHeaders,
  valuesOf,
  type ClearCredential,
  type Provider,
} from '../../providers/index.ts';
import type { ConnectionRow } from '../store.ts';
import { placeOf } from './metadata.ts';
import { hasAccessToken, type Secrets } from './secrets.ts';

/** What a request to the provider needs, and nothing more. Kept in memory only. */
export interface Credential {
  /** Scheme, host and port of the provider's API for this connection. */
  origin: string;
  /** The path of the catalogue's base URL, without a slash at its end; the proxy leaves it out. */
  basePath: string;
  /** Names are lower case. */
  headers: Record<string, string>;
  query?: Record<string, string>;
  generation: number;
  /** Milliseconds since the epoch, by this node's clock; missing when only a 401 tells. */
  expiresAt?: number;
}

/** Builds the credential of a connection. Throws credentials-rejected when its API address is not one of the provider's. */
export function credentialOf(
  provider: Provider,
  row: Pick<ConnectionRow, 'workspace_ref' | 'provider_metadata' | 'generation'>,
  secrets: Secrets,
): Omit<Credential, 'expiresAt'> {
  const place = placeOf(provider, row.workspace_ref, row.provider_metadata);
  const base = new URL(baseUrlOf(provider, place));
  const { headers, query } = credentialHeaders(provider, clearOf(secrets), valuesOf(provider, place));
  return {
    origin: base.origin,
    basePath: base.pathname.replace(/\/+$/, ''),
    headers,
    ...(Object.keys(query).length > 0 ? { query } : {}),
    generation: row.generation,
  };
}

/** The part of the secrets that goes on a call. */
export function clearOf(secrets: Secrets): ClearCredential {
  return hasAccessToken(secrets) ? { kind: 'oauth2', accessToken: secrets.accessToken } : secrets;
}

/** A token that a 401 asked for is not asked for again so soon: what is refused then is refused for another reason. */
export const restMs = 60_000;

const marginMostMs = 5 * 60_000;

/** How long before its end a token is renewed: five minutes, or a fifth of a shorter life. */
export function refreshMarginMs(lifeMs: number): number {
  return Math.min(marginMostMs, lifeMs / 5);
}

/** The refusal of every call on a connection whose credentials stopped working. */
export function badCredentials({
  id,
  status_detail,
  is_moved = false,
}: Pick<ConnectionRow, 'id' | 'status_detail'> & { is_moved?: boolean }): Problem {
  return deadCredentials(`connection ${id}`, status_detail, is_moved);
}

/** The same in words for whose they are. */
export function deadCredentials(of: string, why: string | null | undefined, isMoved: boolean): Problem {
  return problem('connection-bad-credentials', {
    detail: `The credentials of ${of} no longer work${why ? `: ${why}` : '.'}`,
    ...(isMoved ? { remedy: takeBack } : {}),
  });
}

/** The refusal of a call whose access token was renewed just now and is not taken: that may pass. */
export function refusedForNow({ id }: Pick<ConnectionRow, 'id'>, { displayName }: Provider): Problem {
  return problem('provider-unreachable', {
    detail: `${displayName} refuses the access token of connection ${id} although it gave a new one; nothing was done.`,
    extra: { category: 'auth' },
  });
}

/** What helps where an export took the connection to another server. */
export const takeBack =
  'Send it to the server that the project was moved to. Or end its use there and take the connections back here: POST …/exports:undo, or `svc export --undo`.';

import type { Vault } from '../../kit/vault.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import type { Principal } from '../auth/principal.ts';
import { frontendTokenPrefix, newToken } from '../auth/credential.ts';
import type { FrontendToken } from './schema.ts';

/** Whom a token is for, and who answers for it: a key or a link, with which it ends. */
export interface Claims {
  by: 'apiKey' | 'connectLink';
  id: string;
  groupRef: string;
  consumerRef: string;
  /** In milliseconds. */
  expiresAt: number;
}

/** What is known of a key or a link while it holds. */
export interface Answerable {
  projectId: string;
  projectName: string;
  /** The only group that it reaches. */
  groupRef?: string;
}

/** Tokens that this service makes and reads: sealed, so that nothing of them is kept, and all nodes read them. */
export interface FrontendTokens {
  make(claims: Claims): FrontendToken;
  /** Throws unauthenticated. */
  authenticate(token: string): Promise<Principal>;
}

const place = 'frontend-token';
const toleranceMs = 5_000;

export function createFrontendTokens(
  vault: Vault,
  answering: Record<Claims['by'], (id: string) => Promise<Answerable | undefined>>,
): FrontendTokens {
  function read(token: string): Claims {
    try {
      const sealed = Buffer.from(token.slice(frontendTokenPrefix.length), 'base64url');
      return vault.open(sealed, place) as Claims;
    } catch (cause) {
      throw refused('is not one of this service', cause);
    }
  }

  return {
    make(claims) {
      const token = frontendTokenPrefix + vault.seal(claims, place).toString('base64url');
      const { groupRef, consumerRef } = claims;
      return { token, expiresAt: new Date(claims.expiresAt).toISOString(), groupRef, consumerRef };
    },
    async authenticate(token) {
      const { by, id, groupRef, consumerRef, expiresAt } = read(token);
      if (expiresAt + toleranceMs < Date.now()) throw refused('has expired');
      const found = await answering[by](id);
      if (!found || (found.groupRef !== undefined && found.groupRef !== groupRef))
        throw refused('ended with the key or the link that it was made for');
      const { projectId, projectName } = found;
      return { kind: 'jwt', keyId: id, projectId, projectName, scopes: ['frontend'], groupRef, consumerRef };
    },
  };
}

function refused(why: string, cause?: unknown): Problem {
  return problem('unauthenticated', { detail: `The front-end token ${why}.`, remedy: newToken, cause });
}

import { createHash, randomBytes } from 'node:crypto';

/** How long a started flow may take. */
export const stateLifeSeconds = 600;

/** A new state: 256 random bits, shown once to the browser; only its hash is kept. */
export function newState(): string {
  return randomBytes(32).toString('base64url');
}

export function hashState(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

/** A PKCE verifier and its S256 challenge (RFC 7636, 4.1 and 4.2). */
export function newVerifier(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

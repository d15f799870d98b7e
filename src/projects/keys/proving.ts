import type { Cache } from '../../kit/cache.ts';
import type { UseLog } from '../../kit/use-log.ts';
import type { Principal } from '../auth/principal.ts';
import type { ApiKeyRecord } from './api-key-store.ts';
import { parseApiKey, parseGivenKey, secretFits, type KeyParts } from './key-form.ts';

/** Holds keys against their records. Each that fits is noted as used. */
export interface Proving {
  /** Undefined where the key does not fit, or is not active. */
  prove(key: string, parts: KeyParts, known: ApiKeyRecord | undefined): Principal | undefined;
  /** By the record that is remembered, without waiting; undefined where none is. */
  peek(key: string): Principal | undefined;
}

/** A key that fits. */
interface Proof {
  known: ApiKeyRecord;
  principal: Principal;
}

/**
 * Keys that fit are remembered by their text, in memory only, so that checksum and hash are not worked out for each request. A proof
 * counts while its record is the one that is remembered, which is read again each second; the oldest goes when there are more.
 */
export function createProving(
  records: Pick<Cache<ApiKeyRecord>, 'peek'>,
  uses: Pick<UseLog, 'note'>,
  mostProofs = 10_000,
): Proving {
  const proofs = new Map<string, Proof>();

  function prove(key: string, parts: KeyParts, known: ApiKeyRecord | undefined): Principal | undefined {
    if (!known?.active || !secretFits(parts.secret, known.secret_hash)) return undefined;
    const principal = principalOf(known);
    proofs.set(key, { known, principal });
    const oldest = proofs.keys().next().value;
    if (proofs.size > mostProofs && oldest !== undefined) proofs.delete(oldest);
    uses.note(known.id);
    return principal;
  }

  return {
    prove,
    peek(key) {
      const proof = proofs.get(key);
      if (proof && records.peek(proof.known.id) === proof.known) {
        uses.note(proof.known.id);
        return proof.principal;
      }
      proofs.delete(key);
      const parts = parseApiKey(key) ?? parseGivenKey(key);
      return parts && prove(key, parts, records.peek(parts.id));
    },
  };
}

function principalOf(known: ApiKeyRecord): Principal {
  return Object.freeze({
    kind: 'apiKey',
    keyId: known.id,
    projectId: known.project_id,
    projectName: known.project_name,
    scopes: known.scopes,
    ...(known.group_ref === null ? {} : { groupRef: known.group_ref }),
  });
}

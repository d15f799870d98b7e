import { createPublicKey, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import { record } from '../../events/index.ts';
import { keyChanged } from './key-changed.ts';
import { createCache } from '../../kit/cache.ts';
import type { Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { isId, newId } from '../../kit/ids.ts';
import { createLookup } from '../../kit/lookup.ts';
import { problem, refuse } from '../../kit/problem.ts';
import { isReference } from '../../kit/reference-schema.ts';
import type { Principal } from '../auth/principal.ts';
import type { JwtKey } from '../schema.ts';
import * as store from './jwt-key-store.ts';
import { faultOfToken, longestTokenSeconds } from './token-faults.ts';
import { createUseLog } from '../../kit/use-log.ts';

export interface JwtKeys {
  /** The principal of a front-end token. Throws unauthenticated. */
  authenticate(token: string): Promise<Principal>;
  create(projectId: string, given: Omit<store.NewJwtKey, 'id'>): Promise<{ kid: string }>;
  list(projectId: string, activeOnly: boolean): Promise<JwtKey[]>;
  get(projectId: string, id: string): Promise<JwtKey>;
  update(projectId: string, id: string, change: store.JwtKeyChange): Promise<JwtKey>;
  delete(projectId: string, id: string): Promise<void>;
  /** Whether tokens that it signed are taken. */
  holds(id: string): Promise<boolean>;
  /** After a change of what the keys of a project carry. */
  forgetProject(projectId: string): void;
  close(): Promise<void>;
}

interface VerifyingKey {
  id: string;
  projectId: string;
  projectName: string;
  active: boolean;
  /** What the claims `iss` and `aud` of each token must be. */
  issuer?: string;
  audience?: string;
  publicKey: KeyObject;
}

const clockToleranceSeconds = 5;
const leastModulusBits = 2048;

export function createJwtKeys(ground: Pick<Ground, 'database' | 'log'>): JwtKeys {
  const { database } = ground;
  const uses = createUseLog(ground, store.touchJwtKeys);
  const load = createLookup<VerifyingKey>(
    async (ids) =>
      new Map((await store.loadJwtKeys(database, ids)).map((row) => [row.id, verifyingKey(row)])),
  );
  const cache = createCache<VerifyingKey>({ load });

  async function signerOf(token: string): Promise<VerifyingKey> {
    const kid = kidOf(token);
    const key = kid === undefined ? undefined : await cache.get(kid);
    if (key?.active) return key;
    throw problem('unauthenticated', noSuchKey);
  }

  return {
    async authenticate(token) {
      const signer = await signerOf(token);
      const principal = principalOf(await verified(token, signer), signer);
      uses.note(signer.id);
      return principal;
    },
    async create(projectId, given) {
      const fault = faultOfPem(given.publicKeyPem);
      if (fault !== undefined) throw refuse([{ in: 'body', name: 'publicKeyPem', detail: fault }]);
      const id = newId();
      const { publicKeyPem: _long, ...details } = given;
      await database.transaction(async (tx) => {
        await store.insertJwtKey(tx, projectId, { id, ...given });
        await record(tx, { projectId, action: 'jwtKey.created', targetId: id, details });
      });
      return { kid: id };
    },
    holds: async (id) => isId(id) && (await cache.get(id))?.active === true,
    list: (projectId, activeOnly) => store.listJwtKeys(database, projectId, activeOnly),
    get: async (projectId, id) => (await store.getJwtKey(database, projectId, id)) ?? absent(id),
    async update(projectId, id, change) {
      const updated = await database.transaction((tx) => updateKey(tx, projectId, id, change));
      cache.invalidate(id);
      return updated;
    },
    async delete(projectId, id) {
      await database.transaction(async (tx) => {
        if (!(await store.deleteJwtKey(tx, projectId, id))) absent(id);
        await record(tx, { projectId, action: 'jwtKey.deleted', targetId: id });
      });
      cache.invalidate(id);
    },
    forgetProject(projectId) {
      load.forgetAbsent();
      cache.invalidateWhere((key) => key.projectId === projectId);
    },
    close: async () => {
      cache.close();
      await uses.close();
    },
  };
}

function verifyingKey(row: store.JwtKeyRecord): VerifyingKey {
  return {
    id: row.id,
    projectId: row.project_id,
    projectName: row.project_name,
    active: row.active,
    ...(row.issuer === null ? {} : { issuer: row.issuer }),
    ...(row.audience === null ? {} : { audience: row.audience }),
    publicKey: createPublicKey(row.public_key_pem),
  };
}

const noSuchKey = {
  detail: 'The token’s `kid` does not name an active key.',
  remedy:
    'Sign it with the private key of a key under `POST /v1/projects/{project}/jwt-keys`, and its id as `kid`.',
};

/** The `kid` of a token, or undefined for anything that no key of ours is called. */
function kidOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token);
    return kid !== undefined && isId(kid) ? kid : undefined;
  } catch (error) {
    throw problem('unauthenticated', {
      detail: 'The bearer is neither an API key (svc_…) nor a token (JWT).',
      cause: error,
    });
  }
}

async function verified(token: string, { publicKey, issuer, audience }: VerifyingKey): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: ['RS256'],
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'groupRef', 'consumerRef'],
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    });
    return payload;
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw problem('unauthenticated', { ...faultOfToken(error, token), cause: error });
  }
}

function principalOf(payload: JWTPayload, { id, projectId, projectName }: VerifyingKey): Principal {
  const { exp = 0, groupRef, consumerRef } = payload;
  if (exp > Date.now() / 1000 + longestTokenSeconds + clockToleranceSeconds) {
    throw problem('unauthenticated', {
      detail: `The token’s \`exp\` is more than ${longestTokenSeconds} seconds ahead.`,
      remedy: `Sign it with an \`exp\` of at most ${longestTokenSeconds} seconds from now; the page asks for a new token when it is over.`,
    });
  }
  if (!isReference(groupRef) || !isReference(consumerRef)) {
    throw problem('unauthenticated', {
      detail:
        'The claims `groupRef` and `consumerRef` must be texts of 1 to 255 characters, without white space around them and without control characters.',
      remedy: 'Sign it with the ids that your application gives its customer and the person there.',
    });
  }
  return { kind: 'jwt', keyId: id, projectId, projectName, scopes: ['frontend'], groupRef, consumerRef };
}

/** Why the text is no key that tokens are verified with, or undefined. */
export function faultOfPem(pem: string): string | undefined {
  if (/PRIVATE KEY/.test(pem)) return 'is a private key; keep it, and send the public one';
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    return 'is not a public key in PEM';
  }
  if (key.asymmetricKeyType !== 'rsa') return 'must be an RSA key, for RS256';
  const { modulusLength: bits = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  // With 1, everybody can sign.
  if (publicExponent < 3n) return `must have another public exponent than ${publicExponent}`;
  return bits < leastModulusBits ? `must have at least ${leastModulusBits} bits; it has ${bits}` : undefined;
}

async function updateKey(
  tx: Queryable,
  projectId: string,
  id: string,
  change: store.JwtKeyChange,
): Promise<JwtKey> {
  const before = (await store.getJwtKey(tx, projectId, id)) ?? absent(id);
  const after = (await store.updateJwtKey(tx, projectId, id, change)) ?? absent(id);
  const details = { label: after.label, ...keyChanged(before, after) };
  await record(tx, { projectId, action: 'jwtKey.updated', targetId: id, details });
  return after;
}

function absent(id: string): never {
  throw problem('not-found', {
    detail: `There is no JWT key with the id ${JSON.stringify(id.slice(0, 64))} in this project.`,
  });
}

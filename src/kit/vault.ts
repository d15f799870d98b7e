import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A master key with its id; the first of a list seals, all of them open. */
export interface MasterKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/**
 * Seals secrets for storage. Envelope encryption: a fresh data key for each sealed value (AES-256-GCM), wrapped by the
 * active master key. The place (`project/connection/column`) is associated data, so a value moved to another row stays shut.
 */
export interface Vault {
  seal(value: unknown, place: string): Buffer;
  open(sealed: Buffer, place: string): unknown;
  readonly keyIds: readonly string[];
  /** The id of the master key that seals. */
  readonly activeKeyId: string;
  /** The beginning of every value under that key, and of no other. */
  readonly activePrefix: Buffer;
  /** The id of the master key that wraps the value. */
  keyIdOf(sealed: Buffer): string;
  /** The same value under the active master key; the inner text is not opened. */
  rewrap(sealed: Buffer, place: string): Buffer;
}

const formatVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const wrappedBytes = nonceBytes + keyBytes + tagBytes;

export function createVault(keys: readonly MasterKey[]): Vault {
  const active = keys[0];
  if (!active) throw new Error('a vault needs at least one master key');
  const byId = new Map(keys.map((each) => [each.id, each.key]));

  function master(id: string): Buffer {
    const key = byId.get(id);
    if (!key) throw new Error(`the master key ${id} is not configured (SVC_ENCRYPTION_KEYS)`);
    return key;
  }

  function unwrap(sealed: Buffer, place: string): { dataKey: Buffer; body: Buffer } {
    const { keyId, wrapped, body } = split(sealed);
    return { dataKey: decrypt(master(keyId), wrapped, `key:${keyId}:${place}`), body };
  }

  function assemble(dataKey: Buffer, body: Buffer, place: string, { id, key }: MasterKey): Buffer {
    return Buffer.concat([prefixOf(id), encrypt(key, dataKey, `key:${id}:${place}`), body]);
  }

  return {
    keyIds: [...byId.keys()],
    activeKeyId: active.id,
    activePrefix: prefixOf(active.id),
    seal(value, place) {
      const dataKey = randomBytes(keyBytes);
      return assemble(dataKey, encrypt(dataKey, Buffer.from(JSON.stringify(value)), place), place, active);
    },
    open(sealed, place) {
      const { dataKey, body } = unwrap(sealed, place);
      return JSON.parse(decrypt(dataKey, body, place).toString()) as unknown;
    },
    keyIdOf: (sealed) => split(sealed).keyId,
    rewrap(sealed, place) {
      const { dataKey, body } = unwrap(sealed, place);
      return assemble(dataKey, body, place, active);
    },
  };
}

function prefixOf(keyId: string): Buffer {
  const name = Buffer.from(keyId);
  return Buffer.concat([Buffer.from([formatVersion, name.length]), name]);
}

function split(sealed: Buffer): { keyId: string; wrapped: Buffer; body: Buffer } {
  if (sealed[0] !== formatVersion) throw new Error(`unknown format ${sealed[0]} of a sealed value`);
  const start = 2 + (sealed[1] ?? 0);
  return {
    keyId: sealed.subarray(2, start).toString(),
    wrapped: sealed.subarray(start, start + wrappedBytes),
    body: sealed.subarray(start + wrappedBytes),
  };
}

function encrypt(key: Buffer, plain: Buffer, associated: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(associated));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Buffer, associated: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(associated))
    .setAuthTag(sealed.subarray(sealed.length - tagBytes));
  return Buffer.concat([
    decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes)),
    decipher.final(),
  ]);
}

/** Reads `id:base64,id:base64`, or each on a line of its own; throws with what is wrong. */
export function parseMasterKeys(text: string): MasterKey[] {
  const keys = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [id = '', encoded = ''] = entry.split(':', 2);
      const key = Buffer.from(encoded, 'base64');
      if (!/^[\w-]{1,32}$/.test(id) || key.length !== keyBytes) {
        throw new Error('each entry must be <key id>:<32 bytes in base64>');
      }
      return { id, key };
    });
  if (keys.length === 0) throw new Error('at least one key is needed');
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('a key id stands twice');
  return keys;
}

/** A new random master key in the form that {@link parseMasterKeys} reads. */
export function generateMasterKey(id: string): string {
  return `${id}:${randomBytes(keyBytes).toString('base64')}`;
}

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** An API key taken apart: `svc_<id>_<secret><checksum>`. */
export interface KeyParts {
  id: string;
  secret: string;
}

const form = /^svc_([0-9a-z]{8,32})_([A-Za-z0-9_-]{30})([0-9A-Za-z]{6})$/;
const idBytes = 8;
const secretLength = 30;
const checksumLength = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new key from the system's CSPRNG; the secret holds 180 bits. */
export function generateApiKey(): { key: string; id: string; secret: string } {
  const id = randomBytes(idBytes).toString('hex');
  const secret = randomBytes(24).toString('base64url').slice(0, secretLength);
  return { id, secret, key: `svc_${id}_${secret}${checksumOf(id, secret)}` };
}

/** The parts of a key, or undefined for anything that no key can be: found without a hash and without asking the database. */
export function parseApiKey(text: string): KeyParts | undefined {
  const [, id, secret, checksum] = form.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return checksumOf(id, secret) === checksum ? { id, secret } : undefined;
}

/**
 * A key that an operator made up (SVC_BOOTSTRAP_API_KEY): any 32 or more printable characters. Its id comes from it, so that
 * it is found; undefined for what cannot be one, and for what means to be one of ours.
 */
export function parseGivenKey(text: string): KeyParts | undefined {
  if (/^svc_/i.test(text) || !/^[!-~]{32,512}$/.test(text)) return undefined;
  return { id: `given${hash('sha256', `svc key id\n${text}`, 'hex').slice(0, 12)}`, secret: text };
}

/** Of a key that is given at the first start. Throws for what can be none. */
export function partsOfGiven(text: string): KeyParts {
  const parts = parseApiKey(text) ?? parseGivenKey(text);
  if (parts) return parts;
  throw new Error(
    'must be 32 to 512 printable ASCII characters without spaces, such as `openssl rand -hex 32` prints; one that starts with svc_ must be a whole key of this service',
  );
}

/** What is stored of a secret. It is random and long, so that a fast hash is enough. */
export function hashSecret(secret: string): Buffer {
  // By way of the text: a digest as a buffer takes node:crypto six times as long.
  return Buffer.from(hash('sha256', secret, 'hex'), 'hex');
}

/** Compares in constant time. */
export function secretFits(secret: string, stored: Buffer): boolean {
  const given = hashSecret(secret);
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** CRC-32 in base 62: it tells typing errors and secret scanners, it protects nothing. */
function checksumOf(id: string, secret: string): string {
  let rest = crc32(`${id}_${secret}`);
  let text = '';
  while (text.length < checksumLength) {
    text = (digits[rest % digits.length] ?? '0') + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

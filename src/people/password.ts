import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import { problem } from '../kit/problem.ts';
import { createQueue } from '../kit/queue.ts';

/** Hashes passwords, off the event loop and few at a time. What is stored says how it was made (a PHC string). */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long where nothing is stored. */
  fits(password: string, stored: string | null | undefined): Promise<boolean>;
  /** Whether it was made with less than is used now. */
  isWeak(stored: string): boolean;
}

interface Parts {
  name: string;
  params: Record<string, number>;
  salt: Buffer;
  digest: Buffer;
}

/** How one algorithm works here. The parameters are those that OWASP names. */
interface Algorithm {
  prefix: string;
  params: Record<string, number>;
  derive(password: string, parts: Omit<Parts, 'digest'>, length: number): Promise<Buffer>;
}

const saltBytes = 16;
const digestBytes = 32;
/** The thread pool of Node has four threads, and files and names are looked up there, too. */
const mostAtOnce = 2;
const mostWaiting = 100;

const deriveScrypt = promisify<crypto.BinaryLike, Buffer, number, crypto.ScryptOptions, Buffer>(
  crypto.scrypt,
);

const scrypt: Algorithm = {
  prefix: '$scrypt$',
  params: { ln: 15, r: 8, p: 3 },
  derive: (password, { salt, params }, length) => {
    const { ln = 0, r = 0, p = 0 } = params;
    return deriveScrypt(password, salt, length, { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r });
  },
};

const argon2id: Algorithm = {
  prefix: '$argon2id$v=19$',
  params: { m: 19_456, t: 2, p: 1 },
  derive: (password, { salt, params }, length) => {
    const { m = 0, t = 0, p = 0 } = params;
    const given = { message: password, nonce: salt, parallelism: p, tagLength: length, memory: m, passes: t };
    return new Promise((resolve, reject) => {
      crypto.argon2('argon2id', given, (error, digest) => (error ? reject(error) : resolve(digest)));
    });
  },
};

/** Node has Argon2 from 24.7 on. */
export const hasArgon2 = typeof (crypto as { argon2?: unknown }).argon2 === 'function';
const algorithms = [...(hasArgon2 ? [argon2id] : []), scrypt];

export function createPasswords(using = hasArgon2 ? argon2id : scrypt): Passwords {
  const inTurn = createQueue({ atOnce: mostAtOnce, waiting: mostWaiting });
  /** Of no password; checked where nothing is stored, so that this takes as long. */
  const nobodys = formatted(using, crypto.randomBytes(saltBytes), crypto.randomBytes(digestBytes));

  return {
    hash: (password) =>
      inTurn(async () => {
        const salt = crypto.randomBytes(saltBytes);
        const parts = { name: using.prefix, params: using.params, salt };
        return formatted(using, salt, await using.derive(normal(password), parts, digestBytes));
      }),
    async fits(password, stored) {
      const [algorithm, parts] = read(stored ?? nobodys);
      const found = await inTurn(() => algorithm.derive(normal(password), parts, parts.digest.length));
      return crypto.timingSafeEqual(found, parts.digest) && typeof stored === 'string';
    },
    isWeak(stored) {
      const [algorithm, { params }] = read(stored);
      if (algorithm !== using) return true;
      return Object.entries(using.params).some(([name, least]) => (params[name] ?? 0) < least);
    },
  };
}

/** For tests, and for a Node without Argon2. */
export const scryptPasswords = (): Passwords => createPasswords(scrypt);

/** The same letters may be typed in several ways (NIST SP 800-63B, 5.1.1.2). */
function normal(password: string): string {
  return password.normalize('NFKC');
}

function formatted({ prefix, params }: Algorithm, salt: Buffer, digest: Buffer): string {
  const listed = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return `${prefix}${listed.join(',')}$${b64(salt)}$${b64(digest)}`;
}

/** PHC strings leave the padding out. */
const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function read(stored: string): [Algorithm, Parts] {
  const algorithm = algorithms.find(({ prefix }) => stored.startsWith(prefix));
  const [list = '', salt = '', digest = ''] = stored.slice(algorithm?.prefix.length ?? 0).split('$');
  if (!algorithm || digest === '') {
    const detail =
      'This Node cannot check how the password was hashed; svc needs one with Argon2, 24.7 or later.';
    throw problem('internal', { detail, retryable: false });
  }
  const params = Object.fromEntries(
    list.split(',').map((pair) => [pair.split('=')[0] ?? '', Number(pair.split('=')[1])]),
  );
  const bytes = { salt: Buffer.from(salt, 'base64'), digest: Buffer.from(digest, 'base64') };
  return [algorithm, { name: algorithm.prefix, params, ...bytes }];
}

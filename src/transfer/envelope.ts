import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Turns } from '../kit/turns.ts';
import type { ProjectFile } from './schema.ts';

/** What stands beside the sealed part; sealed with it, so that none of it can be changed. */
export type Head = Omit<ProjectFile, 'data' | 'salt'>;

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
/** 64 MB and about a tenth of a second for each guess. */
const cost = { N: 2 ** 16, r: 8, p: 1, maxmem: 96 * 1024 * 1024 };
const keyBytes = 32;
/** A file that unfolds to more is not read: it would be held in memory several times over. */
export const unfoldedBytes = 96 * 1024 * 1024;

/** In base64. */
const mostDataBytes = 24 * 1024 * 1024;
const mostPackedBytes = (mostDataBytes / 4) * 3 - nonceBytes - tagBytes;
/** Of the buffers between zlib and here: so few that their number costs nothing. */
const chunkSize = 256 * 1024;

/** Undefined when the file were larger than may be. */
export async function sealFile(
  head: Head,
  content: string | readonly Buffer[],
  passphrase: string,
): Promise<ProjectFile | undefined> {
  const salt = randomBytes(saltBytes);
  const nonce = randomBytes(nonceBytes);
  const key = await keyOf(passphrase, salt);
  const packed = await gathered(Readable.from(content).pipe(createGzip({ chunkSize })), mostPackedBytes);
  if (!packed) return undefined;
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(head));
  const data = Buffer.concat([nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()]);
  await nextTurn();
  return { ...head, salt: salt.toString('base64'), data: data.toString('base64') };
}

/** Undefined with another passphrase, or when any part of the file was changed. */
export async function openFile(
  { salt, data, ...head }: ProjectFile,
  passphrase: string,
): Promise<Buffer | undefined> {
  const sealed = Buffer.from(data, 'base64');
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const key = await keyOf(passphrase, Buffer.from(salt, 'base64'));
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(boundTo(head))
    .setAuthTag(sealed.subarray(-tagBytes));
  try {
    const packed = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    const unfolding = createGunzip({ chunkSize });
    unfolding.end(packed);
    return await gathered(unfolding, unfoldedBytes);
  } catch {
    return undefined;
  }
}

/** All that comes, with room for others between its parts; undefined when it is more than `most` bytes. */
async function gathered(stream: AsyncIterable<Buffer>, most: number): Promise<Buffer | undefined> {
  const turns = new Turns();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    // The stream is destroyed by that.
    if (length > most) return undefined;
    chunks.push(chunk);
    await turns.pass();
  }
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  // Each chunk is let go once it stands in the whole.
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
    whole.set(chunk, at);
    at += chunk.length;
    await turns.pass();
  }
  return whole;
}

function keyOf(passphrase: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, keyBytes, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** The same text whatever order the members of the file are in. */
function boundTo({ format, version, project, createTime, moved, counts }: Head): Buffer {
  const sorted = Object.entries(counts).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Buffer.from(JSON.stringify([format, version, project, createTime, moved, sorted]));
}

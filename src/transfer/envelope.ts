import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
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

const compress = promisify(gzip);
const unfold = promisify(gunzip);

export async function sealFile(head: Head, content: string, passphrase: string): Promise<ProjectFile> {
  const salt = randomBytes(saltBytes);
  const nonce = randomBytes(nonceBytes);
  const key = await keyOf(passphrase, salt);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(head));
  const packed = await compress(content);
  const data = Buffer.concat([nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()]);
  return { ...head, salt: salt.toString('base64'), data: data.toString('base64') };
}

/** Undefined with another passphrase, or when any part of the file was changed. */
export async function openFile(
  { salt, data, ...head }: ProjectFile,
  passphrase: string,
): Promise<string | undefined> {
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
    return (await unfold(packed, { maxOutputLength: unfoldedBytes })).toString('utf8');
  } catch {
    return undefined;
  }
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

import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** As it stands in the rows. */
export const encodings = { plain: 0, zstd: 1 } as const;
export type Encoding = (typeof encodings)[keyof typeof encodings];

/** A shorter text stands in its row as it is; compressing it costs more than it saves. */
const worthFromBytes = 2_048;

/** What is longer goes to another thread; for what is shorter that thread would cost more than the work. */
const atOnceBytes = { plain: 300_000, compressed: 100_000 };

/** All of them in one encoding. PostgreSQL's own compression costs ten times as much. */
export async function encode(texts: readonly Buffer[]): Promise<{ encoding: Encoding; encoded: Buffer[] }> {
  if (texts.every(({ length }) => length < worthFromBytes))
    return { encoding: encodings.plain, encoded: [...texts] };
  return {
    encoding: encodings.zstd,
    encoded: await Promise.all(texts.map(compressed)),
  };
}

async function compressed(text: Buffer): Promise<Buffer> {
  return text.length > atOnceBytes.plain ? compress(text, fast) : zstdCompressSync(text, fast);
}

export async function decode(encoded: Buffer, encoding: number): Promise<Buffer> {
  if (encoding === encodings.plain) return encoded;
  return encoded.length > atOnceBytes.compressed ? decompress(encoded) : zstdDecompressSync(encoded);
}

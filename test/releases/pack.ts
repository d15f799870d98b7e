/**
 * `node scripts/node.mjs test/releases/pack.ts COMMIT [FILE…]` packs the sources of a commit as the former release. The files
 * that are named are taken from this checkout instead: what the former release must know to live beside this one.
 */
import { writeFile } from 'node:fs/promises';
import { brotliCompressSync, constants } from 'node:zlib';
import { archiveOf, packed } from './former.ts';

const [ref, ...files] = process.argv.slice(2);
if (ref === undefined) throw new Error('name the commit of the former release');
const archive = await archiveOf(ref, files);
const { BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_SIZE_HINT: size } = constants;
await writeFile(packed, brotliCompressSync(archive, { params: { [window]: 24, [size]: archive.length } }));

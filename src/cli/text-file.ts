import { isUtf8 } from 'node:buffer';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { firstInvalidByte } from '../kit/utf8.ts';
import { exitCodes, Failure } from './failure.ts';
import { whyUnread, whyUnwritten } from './plain.ts';

/** The text of a file as editors of every system write it: with or without the mark of UTF-8. */
export async function readText(path: string, remedy: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new Failure(`${named(path)} cannot be read: ${whyUnread(error)}.`, remedy, exitCodes.usage);
  });
  return textIn(bytes, path);
}

/** All that is piped in, as text. */
export async function readPiped(): Promise<string> {
  return textIn(await buffer(process.stdin), 'What was piped in');
}

function textIn(bytes: Uint8Array, source: string): string {
  const strange = strangeText(bytes);
  if (strange)
    throw new Failure(`${named(source)} cannot be read: ${strange.why}.`, strange.remedy, exitCodes.usage);
  return new TextDecoder().decode(bytes);
}

/** What keeps bytes from being text. */
function strangeText(bytes: Uint8Array): { why: string; remedy: string } | undefined {
  if (isUtf16(bytes)) return { why: 'it is UTF-16 text', remedy: 'Save it as UTF-8.' };
  if (bytes.includes(0)) return { why: 'it is no text', remedy: 'Name a text file.' };
  if (isUtf8(bytes)) return undefined;
  return {
    why: `it is not UTF-8: byte ${firstInvalidByte(bytes)} (from 0)`,
    remedy: 'Save it as UTF-8.',
  };
}

/** By the mark that it begins with: two bytes that UTF-8 never has. */
export function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Puts text into a file, in place of what was there. */
export async function writeText(path: string, text: string): Promise<void> {
  refuseDash(path);
  await writeFile(path, text).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/** Keeps a secret where nobody else can read it, whole or not at all. */
export async function writeSecret(path: string, text: string, remedy: string): Promise<void> {
  const next = `${path}.${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(next, text, { mode: 0o600 });
    await chmod(next, 0o600);
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw unwritable(path, error, remedy);
  }
}

/** To other programs `-` is the output; a file of that name surprises whoever meant it. */
export function refuseDash(path: string): void {
  if (path === '-') throw new Failure('- names no file.', 'Name a file.', exitCodes.usage);
}

export function unwritable(path: string, error: unknown, remedy = 'Name another file.'): Failure {
  return new Failure(`${named(path)} cannot be written: ${whyUnwritten(error)}.`, remedy, exitCodes.usage);
}

function named(path: string): string {
  return path === '' ? 'A file without a name' : path;
}

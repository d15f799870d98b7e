import { readFile, writeFile } from 'node:fs/promises';
import { exitCodes, Failure } from './failure.ts';
import { whyUnread, whyUnwritten } from './plain.ts';

/** The text of a file as editors of every system write it: with or without the mark of UTF-8. */
export async function readText(path: string, remedy: string): Promise<string> {
  const unread = (why: string, what = remedy): Failure =>
    new Failure(`${named(path)} cannot be read: ${why}.`, what, exitCodes.usage);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unread(whyUnread(error));
  });
  const strange = strangeText(bytes);
  if (strange) throw unread(strange.why, strange.remedy);
  return new TextDecoder().decode(bytes);
}

/** What keeps bytes from being text. */
export function strangeText(bytes: Uint8Array): { why: string; remedy: string } | undefined {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return { why: 'it is UTF-16 text', remedy: 'Save it as UTF-8.' };
  if (bytes.includes(0)) return { why: 'it is no text', remedy: 'Name a text file.' };
  return undefined;
}

/** Puts text into a file, in place of what was there. */
export async function writeText(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

export function unwritable(path: string, error: unknown, remedy = 'Name another file.'): Failure {
  return new Failure(`${named(path)} cannot be written: ${whyUnwritten(error)}.`, remedy, exitCodes.usage);
}

function named(path: string): string {
  return path === '' ? 'A file without a name' : path;
}

import { lstat, mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of lines, and those that were put aside. */
export interface LineFile {
  folder: string;
  name: string;
  maxBytes: number;
  keep: number;
}

const newline = 10;

/** What stands where the file would be is none. */
export class NoFile extends Error {
  override readonly name = 'NoFile';
}

/** Adds a line that is on the disk when this returns. Only one at a time may do this to a file. */
export async function appendLine(file: LineFile, line: Buffer): Promise<void> {
  await mkdir(file.folder, { recursive: true });
  const path = pathOf(file, 0);
  // Opening a pipe would wait for its reader.
  const found = await lstat(path).catch(() => undefined);
  if (found && !found.isFile()) throw new NoFile(`${path} is no file`);
  if (found && found.size > 0 && found.size + line.length + 1 > file.maxBytes) await putAside(file);
  const handle = await open(path, 'a+', 0o600);
  try {
    const begin = (await endsInside(handle)) ? '\n' : '';
    await handle.writeFile(Buffer.concat([Buffer.from(begin), line, Buffer.from('\n')]));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** A process that was killed left half a line. */
async function endsInside(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline;
}

async function putAside(file: LineFile): Promise<void> {
  for (let at = file.keep - 1; at >= 0; at -= 1)
    await rename(pathOf(file, at), pathOf(file, at + 1)).catch(unlessAbsent);
}

function unlessAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** The file is 0; the one put aside last is 1. */
export function pathOf({ folder, name }: LineFile, at: number): string {
  return join(folder, at === 0 ? `${name}.ndjson` : `${name}.${at}.ndjson`);
}

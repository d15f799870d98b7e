import { rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { exitCodes, Failure } from './failure.ts';

/** An empty file that was not there, and goes away with the process unless it is kept. */
export async function openNew(path: string): Promise<{ handle: FileHandle; keep: () => void }> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new Failure(`${path} is there already.`, 'Name another file, or remove it.', exitCodes.usage)
      : new Failure(`${path} cannot be written: ${error.message}.`, 'Name another file.', exitCodes.usage);
  });
  const remove = (): void => rmSync(path, { force: true });
  process.once('exit', remove);
  return { handle, keep: () => void process.off('exit', remove) };
}

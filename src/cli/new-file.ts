import { rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { exitCodes, Failure } from './failure.ts';
import { refuseDash, unwritable } from './text-file.ts';

/** Fills a file that was not there: it is there when the work is done, and otherwise goes away, also with the process. */
export async function withNew<Done>(
  path: string,
  work: (handle: FileHandle) => Promise<Done>,
): Promise<Done> {
  refuseDash(path);
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new Failure(`${path} is there already.`, 'Name another file, or remove it.', exitCodes.usage)
      : unwritable(path, error);
  });
  const remove = (): void => rmSync(path, { force: true });
  process.once('exit', remove);
  try {
    return await work(handle);
  } catch (error) {
    remove();
    throw error;
  } finally {
    process.off('exit', remove);
    await handle.close().catch(() => undefined);
  }
}

/** What the system says of a file, as people say it. */
const ofFiles: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'it is there already',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'its name is too long',
};

/** Why a file could not be read. */
export function whyUnread(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return ofFiles[code] ?? message;
}

/** Why a file could not be written: one that is new is missed by nobody, its folder is. */
export function whyUnwritten(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'its folder is not there' : whyUnread(error);
}

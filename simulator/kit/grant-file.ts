import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** One consent: a client's right to an account. */
export type Grant = {
  id: number;
  clientId: string;
  account: string;
  scopes: string[];
  refreshToken: string;
  revoked: boolean;
  createdAt: number;
};

/** Keeps live grants over restarts, so that what was connected before stays connected. */
export type GrantFile = { read: () => Grant[]; write: (grants: Grant[]) => void };

/** The file is replaced as a whole: a process that is killed leaves the one before. */
export function createGrantFile(path: string): GrantFile {
  mkdirSync(dirname(path), { recursive: true });
  function read(): Grant[] {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Grant[];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new Error(`${path} cannot be read; remove it`, { cause: error });
    }
  }
  function write(grants: Grant[]): void {
    writeFileSync(`${path}.new`, JSON.stringify(grants), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  return { read, write };
}

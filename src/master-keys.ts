import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { makeDataFolder } from './kit/data-folder.ts';
import type { Database } from './kit/db/database.ts';
import { sealingKeys } from './kit/key-check.ts';
import { generateMasterKey, parseMasterKeys, type MasterKey } from './kit/vault.ts';

/** Those of SVC_ENCRYPTION_KEYS, or of the file that the embedded mode keeps. */
export async function masterKeysOf(
  { encryptionKeys, dataDir }: Config,
  database: Database,
  { make } = { make: true },
): Promise<MasterKey[]> {
  return encryptionKeys ?? generatedKeys(dataDir, database, make);
}

/** Throws where the file is there and holds no keys, before anything is made beside it. */
export async function assertKeysKept({ encryptionKeys, dataDir }: Config): Promise<void> {
  const path = pathIn(dataDir);
  if (encryptionKeys === undefined && existsSync(path)) await keysOf(path);
}

const pathIn = (dataDir: string): string => join(dataDir, 'encryption-keys');

/** The master keys of the embedded mode: made once, readable by the owner only. */
async function generatedKeys(dataDir: string, database: Database, make: boolean): Promise<MasterKey[]> {
  const path = pathIn(dataDir);
  if (make) await makeDataFolder(dataDir);
  const sealed = existsSync(path) ? [] : await sealingKeys(database);
  if (sealed.length > 0)
    throw new Error(
      `${path} is missing, and the database was sealed with its key ${sealed.join(', ')}. Put the file back from a backup: no other key opens the credentials`,
    );
  if (!make) return existsSync(path) ? keysOf(path) : parseMasterKeys(generateMasterKey('k1'));
  const fresh = generateMasterKey('k1');
  // `wx` lets the first of two starting processes decide.
  await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(path, 0o600);
  return keysOf(path);
}

async function keysOf(path: string): Promise<MasterKey[]> {
  const text = await readFile(path, 'utf8');
  try {
    return parseMasterKeys(text.trim());
  } catch (error) {
    throw new Error(
      `${path} holds no master keys: ${(error as Error).message}. Put the file back from a backup, or, where nothing is sealed yet, remove it: the next start makes another one`,
      { cause: error },
    );
  }
}

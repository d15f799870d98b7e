import { mkdir } from 'node:fs/promises';

/** Makes a folder of SVC_DATA_DIR, unless it is there. Throws an error that names the variable. */
export async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new Error(
      `The folder ${folder} cannot be made. Let SVC_DATA_DIR name one that can, or set DATABASE_URL.`,
      { cause },
    );
  });
}

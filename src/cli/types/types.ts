import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { exitCodes, Failure } from '../failure.ts';
import { validManifest } from '../manifest-file.ts';
import { writeTypes } from './write-types.ts';

/** `svc types`: says the types of a manifest, or keeps them in a file. */
export async function types(path: string, { out }: { out?: string }): Promise<void> {
  const { manifest } = await validManifest(path);
  const written = writeTypes(manifest, basename(path));
  if (out === undefined) {
    process.stdout.write(written);
    return;
  }
  await writeFile(out, written).catch((error: Error) => {
    throw new Failure(`${out} cannot be written: ${error.message}.`, 'Name another file.', exitCodes.usage);
  });
}

import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { exitCodes, Failure } from '../failure.ts';
import { validManifest } from '../manifest-file.ts';
import { writeText } from '../text-file.ts';
import { writeTypes } from './write-types.ts';

/** `svc types`: says the types of a manifest, or keeps them in a file. */
export async function types(path: string, { out }: { out?: string }): Promise<void> {
  const { manifest } = await validManifest(path);
  const written = writeTypes(manifest, basename(path));
  if (out === undefined || out === '-') {
    process.stdout.write(written);
    return;
  }
  if (await isSame(path, out))
    throw new Failure(
      `${out} is the manifest itself.`,
      'Name another file, such as src/integrations.ts.',
      exitCodes.usage,
    );
  await writeText(out, written);
}

async function isSame(path: string, out: string): Promise<boolean> {
  const [one, other] = await Promise.all([realpath(path), realpath(out).catch(() => undefined)]);
  return one === other;
}
